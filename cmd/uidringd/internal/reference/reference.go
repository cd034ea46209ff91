// Package reference is the subcommand that prints the server's reference: keys of the config, URLs
// of stores, metrics, routes and errors. The tables are those by which the server works.
package reference

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"

	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/uidringd/internal/api"
	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/cmd/uidringd/internal/resp"
	"github.com/uidring/uidring/cmd/uidringd/internal/serve"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/cmd/uidringd/internal/stores"
	uidringv1 "github.com/uidring/uidring/cmd/uidringd/proto/uidring/v1"
	"github.com/uidring/uidring/internal/figures"
)

var pages = map[string]func() string{
	"config": func() string {
		return "# Configuration keys\n\n" + config.Reference() + "\n## A config with every key\n\n```yaml\n" + config.Sample + "```\n"
	},
	"errors":  failures,
	"metrics": metrics,
	"routes":  routes,
	"stores":  func() string { return "# Store URLs\n\n" + stores.Reference },
}

// New returns the subcommand.
func New() *cobra.Command {
	names := slices.Sorted(maps.Keys(pages))
	return &cobra.Command{
		Use:   "reference PAGE",
		Short: "Print the reference for the config, stores, metrics, routes or errors",
		Long: `reference prints a page of documentation in Markdown:

  config   every key, with its default and values
  errors   the kinds of failures, with their codes
  metrics  the contents of /metrics
  routes   what each protocol serves
  stores   the store URLs`,
		Example:   "  uidring reference config",
		Args:      cli.OneArg("page: " + strings.Join(names, ", ")),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			page, known := pages[args[0]]
			if !known {
				return cli.Usagef("%q is not a page; want %s", args[0], strings.Join(names, ", "))
			}
			_, err := io.WriteString(cmd.OutOrStdout(), page())
			return err
		},
	}
}

func metrics() string {
	var text strings.Builder
	table := func(title string) {
		fmt.Fprintf(&text, "\n## %s\n\n| metric | type | labels | |\n|---|---|---|---|\n", title)
	}
	text.WriteString(`# Metrics

This page lists the metrics that /metrics serves. A metric's name contains its unit, if it has one; a counter's name ends in
_total. A counter never decreases while the process runs. Durations are in seconds, timestamps in seconds since 1970. /metrics
also serves the standard metrics of the Go runtime and the process.
`)
	table("The server")
	for _, m := range serve.Metrics {
		fmt.Fprintf(&text, "| `%s` | %s | %s | %s |\n", m.Name, m.Type, strings.Join(m.Labels, ", "), m.Help)
	}
	table("Each generator")
	for _, f := range figures.All {
		kind, labels := "gauge", "generator"
		switch f.Kind {
		case figures.Text:
			continue
		case figures.Counter:
			kind = "counter"
		case figures.Info:
			labels += ", layout"
		}
		fmt.Fprintf(&text, "| `uidring_%s` | %s | %s | %s |\n", f.Name, kind, labels, strings.TrimSpace(f.Help+" "+f.Note))
	}
	return text.String()
}

// described is a part of the description in OpenAPI.
type described struct {
	Paths      map[string]map[string]any
	Components struct {
		Responses map[string]struct{ Description string }
	}
}

func openapi() (d described) {
	if err := yaml.Load(api.Description, &d); err != nil {
		panic(err) // it is linked
	}
	return d
}

func routes() string {
	var text strings.Builder
	text.WriteString("# Routes\n\n## HTTP\n\n`/openapi.yaml` has the parameters and responses.\n\n| route | token | |\n|---|---|---|\n")
	paths := openapi().Paths
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		for _, method := range []string{"get", "head", "post"} {
			if of, found := paths[path][method].(map[string]any); found {
				token := "for `{name}`"
				if _, open := of["security"]; open || !strings.Contains(path, "{name}") {
					token = "any"
				}
				fmt.Fprintf(&text, "| `%s %s` | %s | %v |\n", strings.ToUpper(method), path, token, of["summary"])
			}
		}
	}
	for _, o := range serve.Operations {
		token := "none"
		if o.Token {
			token = "for operations"
		}
		fmt.Fprintf(&text, "| `%s` | %s | %s |\n", strings.TrimSuffix(o.Pattern, "{$}"), token, o.About)
	}
	text.WriteString("\n## gRPC, gRPC-Web and Connect\n\n| method | request | response |\n|---|---|---|\n")
	for i := range uidringv1.File_uidring_v1_uidring_proto.Services().Len() {
		of := uidringv1.File_uidring_v1_uidring_proto.Services().Get(i)
		for j := range of.Methods().Len() {
			m := of.Methods().Get(j)
			fmt.Fprintf(&text, "| `/%s/%s` | `%s` | `%s` |\n", of.FullName(), m.Name(), m.Input().Name(), m.Output().Name())
		}
	}
	text.WriteString("\nThe standard health and reflection services need no token.\n\n## Redis\n\n| command | arguments | token |\n|---|---|---|\n")
	for _, c := range resp.Commands() {
		token := "needed"
		if c.Open {
			token = "not needed"
		}
		fmt.Fprintf(&text, "| `%s` | %s | %s |\n", c.Name, c.Arguments, token)
	}
	return text.String()
}

func failures() string {
	var text strings.Builder
	text.WriteString("# Errors and exit codes\n\n| failure | HTTP | gRPC, Connect | Redis | |\n|---|---|---|---|---|\n")
	responses := openapi().Components.Responses
	for _, kind := range service.Kinds {
		fmt.Fprintf(&text, "| %s | %d %s | %s | `%s` | %s |\n", kind, kind.Status, api.StatusText(kind.Status), kind.Code, kind.Word,
			responses[fmt.Sprint(kind.Status)].Description)
	}
	text.WriteString("\nSome errors of the Redis protocol begin with another word: `WRONGPASS` for an unknown token, `NOPROTO` for an unknown version\n" +
		"of the protocol, `EXECABORT` for `EXEC` after `MULTI`, and `LOADING` for `PING` while /readyz answers 503.\n")
	text.WriteString("\nResponses, /readyz and the health service give one of these reasons why a generator cannot issue ids:\n\n")
	for _, reason := range service.Reasons() {
		fmt.Fprintf(&text, "- %s\n", reason)
	}
	return text.String() + "\n```text\n" + strings.TrimSpace(cli.ExitCodes) + "\n```\n"
}
