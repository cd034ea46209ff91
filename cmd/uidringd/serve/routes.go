package serve

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/uidring/uidring/cmd/uidringd/api"
	"github.com/uidring/uidring/cmd/uidringd/config"
	"github.com/uidring/uidring/cmd/uidringd/rpc"
	"github.com/uidring/uidring/cmd/uidringd/service"
	"github.com/uidring/uidring/uid/uidstatus"
)

// handler returns all routes. address is where the server listens.
func (s *server) handler(address string) (http.Handler, error) {
	ids, err := service.New(s.set, s.admits(func(*config.Token) bool { return true }))
	if err != nil {
		return nil, err
	}
	status, err := uidstatus.New(s.set.Clocked(), uidstatus.Config{Segments: s.set.Counters, Hosts: s.config.Hosts})
	if err != nil {
		return nil, err
	}
	m, err := newMetrics(s.set)
	if err != nil {
		return nil, err
	}
	operators, err := s.operators()
	if err != nil {
		return nil, err
	}
	routes := rpc.New(ids, s.ready)
	routes["GET /healthz"] = http.HandlerFunc(s.healthz)
	routes["GET /readyz"] = http.HandlerFunc(s.readyz)
	routes["GET /metrics"] = operators(promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	routes["/status/"] = operators(status)
	routes["GET /{$}"] = operators(s.page(address))
	return s.observed(api.New(ids, routes), m), nil
}

// admits returns who may draw ids, of the tokens that are chosen.
func (s *server) admits(chosen func(*config.Token) bool) service.Config {
	c := s.config
	how := service.Config{
		ClientCerts: c.TLS != nil && c.TLS.ClientCA != "",
		Rate:        c.Limits.Requests,
		Burst:       c.Limits.Burst,
		Waiting:     c.Limits.Waiting,
		Wait:        c.Limits.Wait,
		Logger:      s.logger,
	}
	for i := range c.Tokens {
		if token := &c.Tokens[i]; chosen(token) {
			hash, _ := token.Hash() // the config is checked
			how.Tokens = append(how.Tokens, service.Token{Name: token.Name, Hash: hash, May: token.Allows})
		}
	}
	return how
}

// operators returns what lets operators pass: everybody where nobody has to
// authenticate.
func (s *server) operators() (func(http.Handler) http.Handler, error) {
	how := s.admits(func(t *config.Token) bool { return t.Operations })
	if len(s.config.Tokens) > 0 && len(how.Tokens) == 0 && !how.ClientCerts {
		refused := &service.Error{Kind: service.Forbidden, Detail: "no token of the config has operations: true"}
		return func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { api.WriteProblem(w, refused) })
		}, nil
	}
	guard, err := service.New(s.set, how)
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := guard.Admit(r); err != nil {
				api.WriteProblem(w, err)
				return
			}
			h.ServeHTTP(w, r)
		})
	}, err
}
