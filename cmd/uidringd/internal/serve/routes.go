package serve

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/uidring/uidring/cmd/uidringd/internal/api"
	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/cmd/uidringd/internal/rpc"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/uid/uidstatus"
)

// inForce is a config and what answers requests under it. It does not change: a reload
// replaces it, and requests that have begun end under the one before.
type inForce struct {
	config *config.Config
	ids    *service.Service
	seen   *observer
	routes http.Handler
}

// ServeHTTP implements [http.Handler].
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.now.Load().routes.ServeHTTP(w, r)
}

// force makes a config take effect.
func (s *server) force(c *config.Config) error {
	next, err := s.under(c)
	if err != nil {
		return err
	}
	limits, fault := fits(c.Limits)
	if fault != nil {
		s.logger.Warn("too few open files", "error", fault)
	}
	s.doors.Limit(limits)
	s.now.Store(next)
	return nil
}

// reload reads the config anew. It takes over all changes or none, and logs which. read
// is nil without a file.
func (s *server) reload(read func() (*config.Config, error)) {
	refuse := func(why string, args ...any) {
		s.logger.Error("SIGHUP: the config stays as it is: "+why, args...)
	}
	if read == nil {
		refuse("the server was started without --config")
		return
	}
	c, err := read()
	if err != nil {
		refuse("the file has faults", "error", strings.ReplaceAll(err.Error(), "\n", "; "))
		return
	}
	changed, restart := config.Changes(s.now.Load().config, c)
	switch {
	case len(restart) > 0:
		refuse("a change of these keys needs a restart", "keys", strings.Join(restart, ", "))
	case len(changed) == 0:
		s.logger.Info("SIGHUP: the config was read again, and nothing in it has changed")
	default:
		if err := s.force(c); err != nil {
			refuse("it has faults", "error", err)
			return
		}
		s.logger.Info("SIGHUP: the config was read again", "changed", strings.Join(changed, ", "))
	}
}

// under returns what answers requests under a config.
func (s *server) under(c *config.Config) (*inForce, error) {
	ids := service.New(s.set, admits(c, s.logger))
	status, err := uidstatus.New(nil, uidstatus.Config{More: s.set.Stats, Hosts: hosts(c), Home: "../"})
	if err != nil {
		return nil, err
	}
	operators := func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !known(c, r.Host) {
				api.WriteProblem(w, &service.Error{Kind: service.Forbidden, Detail: fmt.Sprintf("the host of the request is %.200q, want localhost, an IP address or an entry of hosts", r.Host)})
				return
			}
			caller, err := ids.Admit(w, r)
			if err == nil {
				err = caller.Operator()
			}
			if err != nil {
				api.WriteProblem(w, err)
				return
			}
			h.ServeHTTP(w, r)
		})
	}
	routes := rpc.New(ids, s.serving, s.stopped)
	routes["GET /healthz"] = http.HandlerFunc(s.healthz)
	routes["GET /readyz"] = http.HandlerFunc(s.readyz)
	routes["GET /metrics"] = operators(promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}))
	routes["/status/"] = operators(status)
	routes["GET /{$}"] = operators(s.page(c))
	seen := newObserver(s.metrics, s.logger, c.Log.Requests)
	return &inForce{c, ids, seen, s.observed(s.bounded(api.New(ids, routes), c.Limits), seen)}, nil
}

// hosts returns the names under which browsers may reach the pages. Under another name, a
// web page could read an answer (DNS rebinding), except if callers authenticate.
func hosts(c *config.Config) []string {
	if len(c.Tokens) > 0 || c.TLS != nil && c.TLS.ClientCA != "" {
		return []string{"*"}
	}
	return c.Hosts
}

// known reports whether a request to a page may have this Host header.
func known(c *config.Config, host string) bool {
	host = strings.TrimSuffix((&url.URL{Host: host}).Hostname(), ".")
	_, err := netip.ParseAddr(host)
	return err == nil || slices.ContainsFunc(append([]string{"localhost"}, hosts(c)...), func(name string) bool {
		return name == "*" || strings.EqualFold(strings.TrimSuffix(name, "."), host)
	})
}

// admits returns who may draw ids, and the limits.
func admits(c *config.Config, logger *slog.Logger) service.Config {
	how := service.Config{
		ClientCerts: c.TLS != nil && c.TLS.ClientCA != "",
		Rate:        c.Limits.Requests,
		Burst:       c.Limits.Burst,
		IDs:         c.Limits.IDs,
		RunIDs:      c.Limits.RunIDs,
		Waiting:     c.Limits.Waiting,
		Wait:        c.Limits.Wait,
		Logger:      logger,
	}
	for i := range c.Tokens {
		token := &c.Tokens[i]
		hash, _ := token.Hash() // the config is checked
		how.Tokens = append(how.Tokens, service.Token{Name: token.Name, Hash: hash, May: token.Allows, Operations: token.Operations})
	}
	return how
}
