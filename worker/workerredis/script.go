package workerredis

import (
	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/internal/redisstore"
)

// prelude begins each script. KEYS are the rows, the counts of given numbers and the layout. now is
// in milliseconds, as text.
const prelude = redisstore.OnMaster + `
local time = redis.call('TIME')
local now = time[1] .. string.format('%03d', math.floor(time[2] / 1000))
`

// reading returns the time, some numbers with their rows, and nothing of counts.
var reading = redis.NewScript(prelude + `
local rows = {}
for i, row in ipairs(redis.call('HMGET', KEYS[1], unpack(ARGV))) do
	if row then rows[#rows + 1] = ARGV[i]; rows[#rows + 1] = row end
end
return {tonumber(now), rows, {}}
`)

// counting returns the time and all counts. searching returns all numbers with their rows too.
var (
	counting = redis.NewScript(prelude + `
return {tonumber(now), {}, redis.call('HGETALL', KEYS[2])}
`)
	searching = redis.NewScript(prelude + `
return {tonumber(now), redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2])}
`)
)

// agreeing makes the layout the new one if it is the old one, and returns the layout then.
var agreeing = redis.NewScript(prelude + `
local old, layout = unpack(ARGV)
if (redis.call('GET', KEYS[3]) or '') == old then redis.call('SET', KEYS[3], layout) end
return redis.call('GET', KEYS[3]) or ''
`)

// writing makes or swaps a row, and returns the number and 1 if it did, else 0. A client sends
// it again if it had no answer: a row with the write's own token counts as written. The script
// compares counts and numbers as text of fixed width, since Lua's numbers have 53 bits.
var writing = redis.NewScript(prelude + `
local number, old, token, reserved, change, host, port, type, from, to, fresh, earliest, latest = unpack(ARGV)
local function following(n) -- the number after n
	local i = #n
	while n:sub(i, i) == '9' do i = i - 1 end
	return n:sub(1, i - 1) .. math.floor(n:sub(i, i) + 1) .. ('0'):rep(#n - i)
end
if fresh == '1' then
	number = from
	local counts = redis.call('HGETALL', KEYS[2])
	for i = 1, #counts, 2 do
		if counts[i] <= to and counts[i + 1] > number then number = counts[i + 1] end
	end
	while redis.call('HEXISTS', KEYS[1], number) == 1 do number = following(number) end
	if number > to then return {number, 0} end
end
local text = redis.call('HGET', KEYS[1], number)
local row = text and cjson.decode(text)
if row and row.token == token then return {number, 1} end
if old ~= '' then
	if not row or row.token ~= old then return {number, 0} end
	if latest ~= '0' and (tonumber(now) < tonumber(earliest) or tonumber(now) > tonumber(latest)) then return {number, 0} end
else
	if row then return {number, 0} end
	local after = following(number)
	if (redis.call('HGET', KEYS[2], from) or '') < after then redis.call('HSET', KEYS[2], from, after) end
	row = {created = now}
end
row.token, row.reserved_until, row.heartbeat = token, reserved, now
if change == 'release' then row.heartbeat = '0' end
if change == 'acquire' then row.host, row.port, row.type = host, port, type end
redis.call('HSET', KEYS[1], number, cjson.encode(row))
return {number, 1}
`)
