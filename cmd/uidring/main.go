// Command uidring generates and reads ids, lists and frees worker numbers, and
// measures the cost of an id on this machine. See uidring --help, and --help of each
// command.
//
// Only results go to standard output. Errors and warnings go to standard error.
package main

import (
	"github.com/spf13/cobra"

	"github.com/uidring/uidring/cmd/internal/backfill"
	"github.com/uidring/uidring/cmd/internal/bench"
	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/gen"
	"github.com/uidring/uidring/cmd/internal/layout"
	"github.com/uidring/uidring/cmd/internal/parse"
	"github.com/uidring/uidring/cmd/internal/schema"
	"github.com/uidring/uidring/cmd/internal/segments"
	"github.com/uidring/uidring/cmd/internal/workers"
)

func main() { cli.Main(newRoot()) }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "uidring",
		Short: "Unique, time-ordered 64-bit ids",
		Long: `uidring generates and reads 64-bit ids that are unique and sort by time.

An id holds the time, the number of the worker that generated it, and a sequence. A
worker takes its number from a database when it starts. The default is the SQLite file
uidring.db, which gen creates in the current directory.`,
		Example: `  uidring gen -n 5                       print five ids
  uidring gen | uidring parse            generate an id and read it
  uidring parse 896950744028951464 --layout baidu,epoch=2016-05-20T00:00:00+08:00
  uidring layout fleet                   show a layout: its fields and its end
  uidring workers                        list worker numbers and their holders
  uidring segments create orders         create a counter, for small, dense ids
  uidring schema postgres                print the SQL for the tables and a service's privileges
  uidring bench                          measure the cost of an id on this machine`,
		Version: cli.Version(),
	}
	root.AddCommand(gen.New(nil), parse.New(nil), layout.New(nil), workers.New(nil), segments.New(nil), backfill.New(nil), schema.New(nil), bench.New())
	return root
}
