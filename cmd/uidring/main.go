// Command uidring makes and reads ids, lists and frees worker numbers, and
// measures what an id costs on the machine at hand:
//
//	uidring gen -n 5             five ids, one a line
//	uidring parse ID...          when, by which worker and as which of its ids
//	uidring workers              who has registered, and who holds a lease
//	uidring workers release N    free the leased number of a dead holder
//	uidring bench                the generators beside a bare atomic add
//
// uidring --help, and --help after each command, tell the rest.
//
// # Exit codes
//
//	0    done; also when the reader of standard output has gone away
//	1    failed; an id was given that cannot be read; or a leased number could
//	     not be given back, and the ids are good
//	2    wrong use: an unknown command or flag, a bad value or argument
//	130  gen or bench was ended by an interrupt (143: by SIGTERM); the ids and
//	     rows made so far have been written
//
// Results go to standard output, and nothing else does. Errors and warnings go
// to standard error.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// Otherwise a write to a pipe that nobody reads would kill the process,
	// where it is to end as if all had been written.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
