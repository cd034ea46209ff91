// Command uidringd serves ids to other services, reads ids, and takes, lists and frees worker numbers of
// every store. docs/server.md is for operators; uidringd --help has the commands.
//
// Package serve documents the server, and uidringd reference prints the keys of the config, the URLs
// of stores, metrics, routes and errors. The other commands are those of uidring, with the same flags and exit codes, for more
// stores. Give a URL with a password by $UIDRING_DSN: other users of the machine can see arguments.
package main

import (
	"github.com/spf13/cobra"

	"github.com/uidring/uidring/cmd/internal/backfill"
	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/gen"
	"github.com/uidring/uidring/cmd/internal/layout"
	"github.com/uidring/uidring/cmd/internal/parse"
	"github.com/uidring/uidring/cmd/internal/schema"
	"github.com/uidring/uidring/cmd/internal/segments"
	"github.com/uidring/uidring/cmd/internal/workers"
	"github.com/uidring/uidring/cmd/uidringd/internal/reference"
	"github.com/uidring/uidring/cmd/uidringd/internal/serve"
	"github.com/uidring/uidring/cmd/uidringd/internal/stores"
)

func main() { cli.Main(newRoot()) }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "uidringd",
		Short: "A server for unique 64-bit ids",
		Long: `uidringd serves unique 64-bit ids over HTTP, gRPC, Connect and the Redis protocol. The
page at / lists the generators, with commands that draw from each.

Without a config it serves two generators over HTTP at 127.0.0.1:8080 and over the Redis
protocol at 127.0.0.1:6380: ids, whose ids carry a time, and orders, whose ids come from
a counter. Both use the SQLite file uidring.db in the current directory.

On SIGTERM or an interrupt it finishes the requests in flight, cutting off those that
take longer than shutdown.drain, and releases worker numbers and unused ids. It exits
with code 0, or with 1 if it could not release everything. A second signal stops it
immediately. On a signal during startup, it exits with code 143 or 130.`,
		Example: `  uidringd                                 try it without a config
  uidringd --config uidring.yaml --check   check a config
  uidringd --config uidring.yaml
  uidringd gen --dsn etcd://host1:2379,host2:2379 -n 5
  uidringd workers --dsn redis://host:6379/0
  uidringd workers release 5 --dsn zk://host1:2181,host2:2181`,
		Version: cli.Version(),
	}
	serve.Add(root)
	root.AddCommand(backfill.New(stores.All), gen.New(stores.All), layout.New(stores.All), parse.New(stores.All), schema.New(stores.All), segments.New(stores.All), workers.New(stores.All), reference.New())
	return root
}
