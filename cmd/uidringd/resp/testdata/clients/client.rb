# Arguments: port, token. It prints the ids that it draws.
require "redis"

redis = Redis.new(host: "127.0.0.1", port: ARGV[0].to_i, password: ARGV[1], reconnect_attempts: 2)
50.times { puts redis.incr("orders") }
puts(redis.pipelined { |pipeline| 100.times { pipeline.incr("orders") } })
last = redis.incrby("orders", 10)
puts((last - 9..last).to_a)
sleep 1 # the server ends the connection meanwhile
puts redis.incr("orders")
49.times { puts redis.get("orders") }
