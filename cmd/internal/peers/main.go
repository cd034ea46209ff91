// Command peers measures the generators of uidring against peers: other id libraries,
// what one would write by hand, and the floors under all of them. It is the benchmark of
// uidring bench with more to measure, and with bars: what the project promises about its
// speed.
//
// Usage, in the folder of the module:
//
//	go run . --report BENCHMARKS.md
//	go run . server --report ../../uidringd/BENCHMARKS.md
//
// server measures uidringd, beside an empty handler and other servers.
//
// It is a module of its own, so that an app that links uidring does not download the
// peers.
package main

import (
	"github.com/spf13/cobra"

	"github.com/uidring/uidring/cmd/internal/cli"
)

func main() { cli.Main(newRoot()) }

func newRoot() *cobra.Command {
	root := &cobra.Command{Use: "peers", Short: "Measure the generators beside other id libraries", Example: "  peers --report BENCHMARKS.md"}
	peers.Command(root)
	server := &cobra.Command{Use: "server", Short: "Measure uidringd beside other servers", Example: "  peers server --report page.md"}
	servers.Command(server)
	root.AddCommand(server,
		&cobra.Command{Use: serveEmpty, Short: "Be the server with empty handlers", Hidden: true, Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return runEmpty() }})
	return root
}
