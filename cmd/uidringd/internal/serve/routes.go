package serve

import (
	"fmt"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/uidring/uidring/cmd/uidringd/internal/api"
	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/cmd/uidringd/internal/rpc"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/internal/hosts"
	"github.com/uidring/uidring/uid/uidstatus"
)

// Operations are the routes beside those of ids.
var Operations = []struct {
	Pattern string
	Token   bool // that is for operations
	About   string
}{
	{"GET /healthz", false, "200 while the process serves"},
	{"GET /readyz", false, "503 while the server is stopping or a generator cannot issue ids; otherwise 200. A generator marked as `optional` only counts if no generator can issue ids. `?generator=NAME` checks only that one"},
	{"GET /metrics", true, "[Metrics](uidringd_metrics.md) for Prometheus"},
	{"GET /status/", true, "Every generator and counter, those in trouble first; `/status/stats.json` has the same in JSON"},
	{"GET /{$}", true, "The generators, with commands that draw from each"},
}

func (s *server) handler() (http.Handler, error) {
	c, ids := s.config, s.ids
	status, err := uidstatus.New(nil, uidstatus.Config{More: s.set.Stats, Hosts: names(c), Home: "../"})
	if err != nil {
		return nil, err
	}
	allowed := hosts.Of(names(c))
	operators := func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !allowed.Allows(r.Host) {
				api.WriteProblem(w, &service.Error{Kind: service.Forbidden, Detail: fmt.Sprintf("the host of the request is %.200q, want localhost, an IP address or an entry of hosts", r.Host)})
				return
			}
			if err := operator(ids, len(c.Tokens) > 0, w, r); err != nil {
				api.WriteProblem(w, err)
				return
			}
			w.Header().Set("X-Content-Type-Options", "nosniff") // a metric can quote a name of the config
			h.ServeHTTP(w, r)
		})
	}
	routes := rpc.New(ids, rpc.Health{Of: s.serving, Generators: s.set.Names()}, s.stopped)
	for i, h := range []http.Handler{
		http.HandlerFunc(s.healthz), http.HandlerFunc(s.readyz),
		promhttp.HandlerFor(s.seen.registry, promhttp.HandlerOpts{}), status, http.HandlerFunc(s.page),
	} {
		if Operations[i].Token {
			h = operators(h)
		}
		routes[Operations[i].Pattern] = h
	}
	return s.observed(s.bounded(api.New(ids, routes), c.Limits), s.seen), nil
}

// operator returns an error unless a request is one of an operator. A browser sends the token as the
// password that it asks for. No route that draws ids takes a password: a browser sends it again
// whenever a page of another site leads there.
func operator(ids *service.Service, tokens bool, w http.ResponseWriter, r *http.Request) error {
	_, password, browser := r.BasicAuth()
	if browser {
		r.Header.Set("Authorization", "Bearer "+password)
	}
	caller, err := api.Admit(ids, w, r)
	if err == nil {
		err = caller.Operator()
		if err == nil || !browser {
			return err
		}
		err = &service.Error{Kind: service.Unauthorized, Detail: err.Error()} // the browser asks again
	}
	if tokens {
		w.Header().Set("WWW-Authenticate", `Basic realm="a token for operations, as the password", charset="UTF-8"`)
	}
	return err
}

// names returns the names under which browsers may reach the pages. Under another name, a
// web page could read an answer (DNS rebinding), except if callers authenticate.
func names(c *config.Config) []string {
	if len(c.Tokens) > 0 || c.TLS != nil && c.TLS.ClientCA != "" {
		return []string{"*"}
	}
	return c.Hosts
}

// admits returns who may draw ids, and the limits.
func admits(c *config.Config, logger *slog.Logger) service.Config {
	how := service.Config{
		ClientCerts: c.TLS != nil && c.TLS.ClientCA != "",
		Limits:      c.Limits.Limits,
		Logger:      logger,
	}
	for i := range c.Tokens {
		token := &c.Tokens[i]
		hash, _ := token.Hash() // the config is checked
		how.Tokens = append(how.Tokens, service.Token{Name: token.Name, Hash: hash, May: token.Allows, Operations: token.Operations})
	}
	return how
}
