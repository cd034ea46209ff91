package workerredis

import "github.com/redis/go-redis/v9"

// prelude begins each script. KEYS are the rows, the counts of given numbers and the layout. Scripts
// refuse to run on a replica, whose data may be old and whose writes are lost. now is
// the server's time in milliseconds, as text.
const prelude = `
if not string.find(redis.call('INFO', 'replication'), 'role:master', 1, true) then
	return redis.error_reply('` + replicaCode + ` the server is a replica')
end
local time = redis.call('TIME')
local now = time[1] .. string.format('%03d', math.floor(time[2] / 1000))
`

// replicaCode begins the reply of a replica.
const replicaCode = "UIDRINGREPLICA"

// reading returns the time, and a number with its row.
var reading = redis.NewScript(prelude + `
local row = redis.call('HGET', KEYS[1], ARGV[1])
return {tonumber(now), row and {ARGV[1], row} or {}, {}}
`)

// searching returns the time, all numbers with their rows, and all counts.
var searching = redis.NewScript(prelude + `
return {tonumber(now), redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2])}
`)

// agreeing makes the layout the new one if it is the old one, and returns the layout then.
var agreeing = redis.NewScript(prelude + `
local old, layout = unpack(ARGV)
if (redis.call('GET', KEYS[3]) or '') == old then redis.call('SET', KEYS[3], layout) end
return redis.call('GET', KEYS[3]) or ''
`)

// writing makes or swaps a row, and returns 1 if it did, else 0. A client sends it again
// if it had no answer: a row with the write's own token counts as written. The script
// compares counts and numbers as text of fixed width, since Lua's numbers have 53 bits.
var writing = redis.NewScript(prelude + `
local number, old, token, reserved, change, host, port, type, from, after, fresh = unpack(ARGV)
local text = redis.call('HGET', KEYS[1], number)
local row = text and cjson.decode(text)
if row and row.token == token then return 1 end
if old ~= '' then
	if not row or row.token ~= old then return 0 end
else
	if row then return 0 end
	local given = redis.call('HGET', KEYS[2], from) or ''
	if fresh == '1' and given >= after then return 0 end
	if given < after then redis.call('HSET', KEYS[2], from, after) end
	row = {created = now}
end
row.token, row.reserved_until, row.heartbeat = token, reserved, now
if change == 'release' then row.heartbeat = '0' end
if change == 'acquire' then row.host, row.port, row.type = host, port, type end
redis.call('HSET', KEYS[1], number, cjson.encode(row))
return 1
`)
