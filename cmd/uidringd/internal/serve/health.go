package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/uidringd/internal/config"
)

// newHealth returns the subcommand that asks a running server whether it is ready.
func newHealth() *cobra.Command {
	return &cobra.Command{
		Use:   "health [URL]",
		Short: "Ask a running server whether it is ready",
		Long: `health prints a running server's response to /readyz, and fails unless the server is
ready. It is meant for container images without curl. Without a URL, it asks
http://127.0.0.1:8080.

A URL starts with http: or https:, or is unix: followed by the path of a socket. A path
other than /readyz may follow the address. health does not verify the server's
certificate: run it on the same machine.`,
		Example: `  uidring health
  uidring health 'https://127.0.0.1:8443/readyz?generator=ids'
  uidring health unix:/run/uidring/http.sock`,
		Args: cli.AtMostOneArg("address, such as http://127.0.0.1:8080"),
		RunE: func(cmd *cobra.Command, args []string) error {
			at := "http://127.0.0.1:8080"
			if len(args) > 0 {
				at = args[0]
			}
			return health(cmd.Context(), at, cmd.OutOrStdout())
		},
	}
}

func health(ctx context.Context, at string, out io.Writer) error {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	u, err := url.Parse(at)
	if err == nil && u.Scheme == "unix" {
		network, path := config.Network(at)
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, path)
		}
		u = &url.URL{Scheme: "http", Host: "localhost"}
	}
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return cli.Usagef("%q is not the address of a server; want one such as http://127.0.0.1:8080 or unix:/run/uidring/http.sock", at)
	}
	u.Path = cmp.Or(strings.TrimSuffix(u.Path, "/"), "/readyz")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	answer, err := (&http.Client{Transport: transport, Timeout: 5 * time.Second}).Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(out, io.LimitReader(answer.Body, 64<<10)); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", u, answer.Status)
	}
	return nil
}
