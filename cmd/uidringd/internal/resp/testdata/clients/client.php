<?php
// A pool of one connection, which may be kept for the next object of its address. See scripts_test.go.
error_reporting(E_ALL & ~E_NOTICE); // the library notes each write to a connection that has ended
require 'serve.php';

// good returns an id, or throws why there is none.
function good(Redis $redis, mixed $id): string
{
    if ($id === false) {
        throw new RedisException($redis->getLastError() ?? 'no answer');
    }
    return $id;
}

serve(
    function (string $server, float $timeout, string $token): Redis {
        [$host, $port] = $server[0] === '/' ? [$server, 0] : explode(':', $server);
        $redis = new Redis();
        $redis->pconnect($host, (int) $port, $timeout, null, 0, $timeout);
        if ($token !== '') {
            $redis->auth($token);
        }
        $redis->select(0);
        return $redis;
    },
    function (Redis $redis, string $command, string $name, int $n, array &$ids): void {
        if ($command === 'incrby') {
            $ids[] = good($redis, $redis->incrBy($name, $n));
        } elseif ($command === 'pipeline') {
            $pipeline = $redis->pipeline();
            for ($i = 0; $i < $n; $i++) {
                $pipeline->incr($name);
            }
            // If the library has to connect again, exec returns the last id alone.
            $drawn = array_filter((array) $pipeline->exec());
            array_push($ids, ...$drawn);
            good($redis, count($drawn) === $n);
        } else {
            for ($i = 0; $i < $n; $i++) {
                $ids[] = good($redis, $command === 'get' ? $redis->get($name) : $redis->incr($name));
            }
        }
    },
);
