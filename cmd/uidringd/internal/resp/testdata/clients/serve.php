<?php
// Answers the lines of standard input, for both libraries. See scripts_test.go.

// serve has connect open a client of a server, and draw append ids to an array.
function serve(callable $connect, callable $draw): void
{
    global $argv;
    [, $timeout, $token] = $argv;
    $servers = array_slice($argv, 3);
    $client = null;
    while (($line = fgets(STDIN)) !== false) {
        [$command, $name, $n] = explode(' ', trim($line));
        $ids = [];
        for ($try = 0; $try <= count($servers); $try++) {
            $error = '';
            try {
                $client ??= $connect($servers[0], (float) $timeout, $token);
                $draw($client, $command, $name, $n - count($ids), $ids);
                break;
            } catch (Exception $e) {
                $error = " error {$e->getMessage()}";
                $client = null;
                $servers[] = array_shift($servers);
            }
        }
        echo implode(' ', $ids), $error, "\n";
    }
}
