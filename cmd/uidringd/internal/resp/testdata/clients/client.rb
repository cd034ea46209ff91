# See scripts_test.go.
require "redis"

$stdout.sync = true
timeout, token, *servers = ARGV
redis = nil

connect = lambda do
  host, port = servers[0].split(":")
  address = host.start_with?("/") ? { path: host } : { host: host, port: port.to_i }
  address[:password] = token unless token.empty?
  Redis.new(timeout: timeout.to_f, db: 0, **address)
end

$stdin.each_line do |line|
  command, name, n = line.split
  ids = []
  error = nil
  (servers.size + 1).times do
    redis ||= connect.call
    left = n.to_i - ids.size
    case command
    when "incr" then left.times { ids << redis.incr(name) }
    when "get" then left.times { ids << redis.get(name) }
    when "incrby" then ids << redis.incrby(name, left)
    when "pipeline" then ids.concat(redis.pipelined { |pipeline| left.times { pipeline.incr(name) } })
    end
    error = nil
    break
  rescue Redis::BaseError => e
    error = "error #{e.message.tr("\n", " ")}"
    redis&.close
    redis = nil
    servers.rotate!
  end
  puts [*ids, *error].join(" ")
end
