<?php
// Arguments: port, token. It prints the ids that it draws.
$redis = new Redis();
$connect = function () use ($redis, $argv) {
    $redis->connect('127.0.0.1', (int) $argv[1]);
    $redis->auth($argv[2]);
};
$connect();
for ($i = 0; $i < 50; $i++) {
    echo $redis->incr('orders'), "\n";
}
$pipeline = $redis->pipeline();
for ($i = 0; $i < 100; $i++) {
    $pipeline->incr('orders');
}
foreach ($pipeline->exec() as $id) {
    echo $id, "\n";
}
$last = $redis->incrBy('orders', 10);
for ($id = $last - 9; $id <= $last; $id++) {
    echo $id, "\n";
}
sleep(1); // the server ends the connection meanwhile
try {
    echo $redis->incr('orders'), "\n";
} catch (RedisException $e) {
    $connect();
    echo $redis->incr('orders'), "\n";
}
for ($i = 0; $i < 49; $i++) {
    echo $redis->get('orders'), "\n";
}
