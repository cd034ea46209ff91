# See scripts_test.go.
use strict;
use warnings;
use Redis;

$| = 1;
$SIG{PIPE} = 'IGNORE'; # the library writes to connections that the server has closed
my ($timeout, $token, @servers) = @ARGV;
my $redis;

sub connected {
    return Redis->new(
        ($servers[0] =~ m{^/} ? (sock => $servers[0]) : (server => $servers[0])),
        (length $token ? (password => $token) : ()),
        cnx_timeout => $timeout, read_timeout => $timeout, write_timeout => $timeout,
        reconnect => $timeout, every => 100_000,
    );
}

while (my $line = <STDIN>) {
    my ($command, $name, $n) = split ' ', $line;
    my @ids;
    my $error;
    for (0 .. @servers) {
        $error = undef;
        last if eval {
            $redis ||= connected();
            my $left = $n - @ids;
            if ($command eq 'incrby') {
                push @ids, $redis->incrby($name, $left);
            } elsif ($command eq 'pipeline') {
                for (1 .. $left) {
                    $redis->incr($name, sub {
                        my ($id, $failed) = @_;
                        if (defined $failed) { $error = $failed } else { push @ids, $id }
                    });
                }
                $redis->wait_all_responses;
                die "$error\n" if defined $error;
                # Commands whose connection was lost have no answer, and that is no error.
                die "no answer\n" if @ids < $n;
            } else {
                push @ids, $redis->$command($name) for 1 .. $left;
            }
            1;
        };
        $error = $@;
        $error =~ s/\n/ /g;
        undef $redis;
        push @servers, shift @servers;
    }
    print join(' ', @ids, defined $error ? "error $error" : ()), "\n";
}
