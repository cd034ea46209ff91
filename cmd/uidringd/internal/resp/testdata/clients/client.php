<?php
// A pool of one connection, which may be kept for the next object of its address. See scripts_test.go.
error_reporting(E_ALL & ~E_NOTICE); // the library notes each write to a connection that has ended
[, $timeout, $token] = $argv;
$servers = array_slice($argv, 3);

function connect(string $server, float $timeout, string $token): Redis
{
    [$host, $port] = $server[0] === '/' ? [$server, 0] : explode(':', $server);
    $redis = new Redis();
    $redis->pconnect($host, (int) $port, $timeout, null, 0, $timeout);
    if ($token !== '') {
        $redis->auth($token);
    }
    return $redis;
}

// good returns an id, or throws why there is none.
function good(Redis $redis, mixed $id): string
{
    if ($id === false) {
        throw new RedisException($redis->getLastError() ?? 'no answer');
    }
    return $id;
}

$redis = null;
while (($line = fgets(STDIN)) !== false) {
    [$command, $name, $n] = explode(' ', trim($line));
    $ids = [];
    $error = '';
    for ($try = 0; $try <= count($servers); $try++) {
        try {
            $redis ??= connect($servers[0], $timeout, $token);
            $left = $n - count($ids);
            if ($command === 'incrby') {
                $ids[] = good($redis, $redis->incrBy($name, $left));
            } elseif ($command === 'pipeline') {
                $pipeline = $redis->pipeline();
                for ($i = 0; $i < $left; $i++) {
                    $pipeline->incr($name);
                }
                // If the library has to connect again, exec returns the last id alone.
                $drawn = array_filter((array) $pipeline->exec());
                array_push($ids, ...$drawn);
                good($redis, count($drawn) === $left);
            } else {
                for ($i = 0; $i < $left; $i++) {
                    $ids[] = good($redis, $command === 'get' ? $redis->get($name) : $redis->incr($name));
                }
            }
            $error = '';
            break;
        } catch (RedisException $e) {
            $error = " error {$e->getMessage()}";
            $redis = null;
            $servers[] = array_shift($servers);
        }
    }
    echo implode(' ', $ids), $error, "\n";
}
