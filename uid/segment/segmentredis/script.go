package segmentredis

import "github.com/uidring/uidring/internal/redisstore"

// prelude begins each script. KEYS are the counters and their records, ARGV[1] is the
// tag. A script returns a list; its first element is a word. Scripts compare counters as text
// without leading zeros, since Lua's numbers have 53 bits.
const prelude = redisstore.OnMaster + `
local tag = ARGV[1]
local now = redis.call('TIME')[1]
local counter = redis.pcall('HGET', KEYS[1], tag) -- pcall, so that WRONGTYPE begins the reply
if type(counter) == 'table' then return counter end
local about = redis.pcall('HGET', KEYS[2], tag)
if type(about) == 'table' then return about end
local whole = counter and string.match(counter, '^[1-9]%d*$')
local most, step = string.match(about or '', '^([1-9]%d*) ([1-9]%d*) %d+$')
local function less(a, b) return #a < #b or #a == #b and a < b end
local function know(most) redis.call('HSET', KEYS[2], tag, most .. ' ' .. step .. ' ' .. now) end
`

// reserving has the number of ids, or 0, in ARGV[2].
const reserving = prelude + `
if not counter and not about then return {'unknown'} end
if not whole or not most or less(counter, most) then
	return {'rewound', counter or 'missing', about or 'missing'}
end
local n = ARGV[2] == '0' and step or ARGV[2]
local done = redis.pcall('HINCRBY', KEYS[1], tag, n)
if type(done) == 'table' then
	return string.find(done.err, 'overflow', 1, true) and {'used up', counter, n} or done
end
know(redis.call('HGET', KEYS[1], tag)) -- HINCRBY's answer is one of Lua's numbers
return {'done', counter, n}
`

// returning has the counter to set in ARGV[2], and the counter to expect in ARGV[3].
const returning = prelude + `
if counter ~= ARGV[3] or most ~= counter then return {'refused'} end
redis.call('HSET', KEYS[1], tag, ARGV[2])
know(ARGV[2])
return {'done'}
`

// creating has the counter in ARGV[2] and the step in ARGV[3].
const creating = prelude + `
if counter or about then return {'exists'} end
step = ARGV[3]
redis.call('HSET', KEYS[1], tag, ARGV[2])
know(ARGV[2])
return {'done'}
`

// raising has the least counter in ARGV[2], and in ARGV[3] the step if the record is
// lost. It returns that step if it used it.
const raising = prelude + `
if not counter and not about then return {'unknown'} end
local high, lost = ARGV[2], ''
if whole and less(high, whole) then high = whole end
if most and less(high, most) then high = most end
if counter ~= high or most ~= high then
	lost = not step and ARGV[3] or ''
	step = step or ARGV[3]
	redis.call('HSET', KEYS[1], tag, high)
	know(high)
end
return {'done', high, lost}
`

const listing = prelude + `
return {'done', redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2])}
`
