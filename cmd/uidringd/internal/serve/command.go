// Package serve is what uidringd does without a subcommand: it serves the generators of
// a config.
//
// Packages api and rpc serve ids over HTTP and gRPC. Package resp serves the Redis protocol at another
// address. This package adds the page at /, /metrics, /status/, and the probes /healthz and /readyz,
// which need no token and show no text of a store. docs/server.md describes them, and the steps of a
// stop.
package serve

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"

	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/uidringd/internal/config"
)

// Add makes root serve when it is called without a subcommand.
func Add(root *cobra.Command) {
	var (
		path  string
		flags config.Flags

		check, printed bool
	)
	set := root.Flags()
	set.StringVar(&path, "config", "", "YAML `file` that says what to serve (default: a generator and a counter in\nthe SQLite file "+config.DemoFile+" in the current directory)")
	set.StringVar(&flags.Listen, "listen", "", "`address` to listen on, instead of the config's; port 0 means any free port")
	set.StringVar(&flags.Redis, "redis", "", "`address` to listen on for the Redis protocol, instead of the config's")
	set.BoolVar(&flags.Anonymous, "anonymous", false, "allow serving other machines without tokens or client certificates")
	set.BoolVar(&check, "check", false, "report all errors in the config and exit")
	set.BoolVar(&printed, "print-config", false, "print the config with all defaults and exit")
	cli.CompleteFiles(root, "config")
	root.AddCommand(newHealth())
	root.Args = cobra.NoArgs
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("config") && path == "" { // a variable of a shell that is not set
			return cli.Usagef("--config is empty, want the path of a YAML file, or no --config")
		}
		c, err := read(path, flags, cmd.ErrOrStderr())
		switch {
		case err != nil:
			return err
		case printed:
			text, err := yaml.Dump(c)
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		case check:
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s has no errors\n", cmp.Or(path, "the config that is served without --config"))
			return err
		}
		tuneGC()
		signal.Ignore(syscall.SIGHUP) // many servers reload their config on it; here a terminal that closes changes nothing
		ctx, stop := cli.UntilSignal(cmd.Context())
		defer stop()
		return serve(ctx, c, path == "", newLogger(c, cmd.ErrOrStderr()), cmd.OutOrStdout())
	}
}

// tuneGC makes requests cheaper: while the heap is small, garbage is collected less often than by
// default. In a flood of requests, the limit makes that often enough. GOGC and GOMEMLIMIT take
// precedence.
func tuneGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(400 << 20)
	}
}

// read reads the config, and writes its faults one a line.
func read(path string, flags config.Flags, stderr io.Writer) (*config.Config, error) {
	c, err := config.Demo(flags)
	if path != "" {
		c, err = config.Read(path, flags)
	}
	var faults config.Faults
	switch {
	case errors.As(err, &faults):
		for line := range strings.Lines(faults.Error()) {
			fmt.Fprintf(stderr, "%s: %s\n", path, strings.TrimSuffix(line, "\n"))
		}
		return nil, &cli.UsageError{Err: cli.ErrReported}
	case err != nil:
		return nil, &cli.UsageError{Err: err}
	}
	return c, nil
}

func newLogger(c *config.Config, stderr io.Writer) *slog.Logger {
	if c.Log.Format == "json" {
		return slog.New(slog.NewJSONHandler(stderr, nil))
	}
	return slog.New(slog.NewTextHandler(stderr, nil))
}
