# Arguments: port, token. It prints the ids that it draws.
use strict;
use warnings;
use Redis;

my $redis = Redis->new(server => "127.0.0.1:$ARGV[0]", password => $ARGV[1], reconnect => 5, every => 100_000);
print $redis->incr("orders"), "\n" for 1 .. 50;
$redis->incr("orders", sub { print "$_[0]\n" }) for 1 .. 100;
$redis->wait_all_responses;
my $last = $redis->incrby("orders", 10);
print "$_\n" for $last - 9 .. $last;
sleep 1; # the server ends the connection meanwhile
print $redis->incr("orders"), "\n";
print $redis->get("orders"), "\n" for 1 .. 49;
