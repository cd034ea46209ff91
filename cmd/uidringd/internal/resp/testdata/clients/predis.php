<?php
// See scripts_test.go.
require 'Predis/autoload.php';
require 'serve.php';

serve(
    function (string $server, float $timeout, string $token): Predis\Client {
        [$host, $port] = explode(':', "$server:");
        $address = $port === '' ? ['scheme' => 'unix', 'path' => $host] : ['host' => $host, 'port' => $port];
        $limits = ['database' => 0, 'timeout' => $timeout, 'read_write_timeout' => $timeout];
        return new Predis\Client($address + $limits + ($token === '' ? [] : ['password' => $token]));
    },
    function (Predis\Client $client, string $command, string $name, int $n, array &$ids): void {
        if ($command === 'incrby') {
            $ids[] = $client->incrby($name, $n);
        } elseif ($command === 'pipeline') {
            $drawn = $client->pipeline(function ($pipeline) use ($name, $n) {
                for ($i = 0; $i < $n; $i++) {
                    $pipeline->incr($name);
                }
            });
            array_push($ids, ...$drawn);
        } else {
            for ($i = 0; $i < $n; $i++) {
                $ids[] = $client->$command($name);
            }
        }
    },
);
