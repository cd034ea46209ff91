// Command uidring makes and reads ids, lists and frees worker numbers, and
// measures what an id costs on the machine at hand:
//
//	uidring gen -n 5             five ids, one a line
//	uidring parse ID...          time, worker and sequence of ids
//	uidring layout [LAYOUT]      what a layout holds, when it ends, what may follow
//	uidring workers              who has which worker number
//	uidring workers release N    free the leased number of a dead holder
//	uidring segments             the counters that segments of ids are reserved from
//	uidring segments create TAG  make a counter
//	uidring segments set TAG     raise a counter
//	uidring bench                the generators beside a bare atomic add
//	uidring version              the version
//
// uidring --help, and --help after each command, tell the rest.
//
// # Exit codes
//
//	0    done; also when the reader of standard output has gone away
//	1    failed: a database is away, an id cannot be read, or a leased number
//	     could not be given back though the ids are good
//	2    wrong use: an unknown command or flag, a value that cannot be used, such
//	     as a DSN that is none or a layout that has ended
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

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/cmd/uidring/bench"
	"github.com/uidring/uidring/cmd/uidring/cli"
	"github.com/uidring/uidring/cmd/uidring/gen"
	"github.com/uidring/uidring/cmd/uidring/layout"
	"github.com/uidring/uidring/cmd/uidring/parse"
	"github.com/uidring/uidring/cmd/uidring/segments"
	"github.com/uidring/uidring/cmd/uidring/workers"
)

func main() {
	// Otherwise a write to a pipe that nobody reads would kill the process,
	// where it is to end as if all had been written.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(cli.Run(context.Background(), newRoot(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "uidring",
		Short: "Unique, time-ordered 64-bit ids",
		Long: `uidring makes 64-bit ids that are unique and sort by time, and reads them.

An id holds the time, the number of the worker that made it, and a sequence. A worker
takes its number from a database when it starts. By default that is the SQLite file
uidring.db in the current folder, which gen creates.`,
		Example: `  uidring gen -n 5                       five ids
  uidring gen | uidring parse            make one and read it
  uidring parse --layout baidu --uid-generator 896950744028951464
  uidring layout default                 what its ids hold, and until when
  uidring workers                        who has which number
  uidring segments create orders         a counter, for small and dense ids
  uidring bench                          what an id costs on this machine`,
		Version: cli.Version(),
	}
	root.AddCommand(gen.New(nil), parse.New(), layout.New(), workers.New(nil), segments.New(), bench.New(), cli.NewVersion())
	return root
}
