package service

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// sender is what a request shows of its sender.
type sender struct {
	remote, token string // token is "" for none
	tls           *tls.ConnectionState
}

// admit authenticates a request and counts it.
func (s sender) admit(by *Service) (caller Caller, err error) {
	if s.token == "" {
		caller, err = by.Anonymous(s.remote, s.tls)
	} else {
		caller, err = by.Login(s.remote, "", s.token)
	}
	if err == nil {
		err = by.Count(caller)
	}
	return caller, err
}

// certified has a client certificate; it is verified by the listener unless chains is
// 0.
func certified(raw string, chains int) sender {
	cert := &x509.Certificate{Raw: []byte(raw)}
	state := &tls.ConnectionState{PeerCertificates: []*x509.Certificate{cert}}
	for range chains {
		state.VerifiedChains = append(state.VerifiedChains, []*x509.Certificate{cert})
	}
	return sender{remote: "10.0.0.1:1", tls: state}
}

func token(name string, generators ...string) Token {
	t := Token{Name: name, Hash: sha256.Sum256([]byte(name + "-token"))}
	if len(generators) > 0 {
		t.May = func(generator string) bool { return generator == generators[0] }
	}
	return t
}

func kindOf(t *testing.T, err error) Kind {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("error %v is no *Error", err)
	}
	return e.Kind
}

func TestAuthentication(t *testing.T) {
	tokens := []Token{token("any"), token("orders", "orders"), token("last")}
	for i, test := range []struct {
		config Config
		r      sender
		want   string // the caller's token, or "", or an error
	}{
		{Config{}, sender{remote: "x"}, ""},
		{Config{Tokens: tokens}, sender{"x", "any-token", nil}, "any"},
		{Config{Tokens: tokens}, sender{"x", "last-token", nil}, "last"},
		{Config{Tokens: tokens}, sender{"x", "orders-token", nil}, "orders"},
		{Config{Tokens: tokens}, sender{remote: "x"}, "want a bearer token in the Authorization header"},
		{Config{Tokens: tokens}, certified("a", 1), "want a bearer token in the Authorization header"},
		{Config{Tokens: tokens}, sender{"x", "any-tokens", nil}, "the Authorization header holds no known bearer token"},
		{Config{ClientCerts: true}, certified("a", 1), ""},
		{Config{ClientCerts: true}, certified("a", 0), "want a client certificate"},
		{Config{ClientCerts: true}, sender{remote: "x"}, "want a client certificate"},
		{Config{ClientCerts: true, Tokens: tokens}, certified("a", 1), ""},
		{Config{ClientCerts: true, Tokens: tokens}, sender{"x", "any-token", nil}, "any"},
		{Config{ClientCerts: true, Tokens: tokens}, sender{remote: "x"}, "want a bearer token in the Authorization header, or a client certificate"},
	} {
		caller, err := test.r.admit(newService(t, &one{}, test.config))
		got := ""
		switch {
		case err != nil:
			got = err.Error()
			if kindOf(t, err) != Unauthorized {
				t.Errorf("test %d: %v", i, err)
			}
		case caller.token != nil:
			got = caller.token.Name
		}
		if got != test.want {
			t.Errorf("test %d: %q, want %q", i, got, test.want)
		}
	}
}

// TestAuthorization shows that a token is for its generators alone, and that a caller
// does not learn which others there are.
func TestAuthorization(t *testing.T) {
	c := &one{entry: entry(counting(0))}
	s := newService(t, c, Config{Tokens: []Token{token("any"), token("orders", "orders")}})
	caller, err := sender{"x", "orders-token", nil}.admit(s)
	need.Must(t, err)
	if _, err := s.Draw(t.Context(), caller, "orders", 1); err != nil {
		t.Error(err)
	}
	c.gets.Store(0)
	_, drawn := s.Draw(t.Context(), caller, "users", 1)
	_, found := s.Find(t.Context(), caller, "users", 1)
	for _, err := range []error{drawn, found} {
		if kindOf(t, err) != Forbidden || err.Error() != `the token is not for generator "users"` || c.gets.Load() > 0 {
			t.Errorf("%v after %d looks into the catalog", err, c.gets.Load())
		}
	}
}

// TestRate shows for whom requests are counted together.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, &one{}, Config{Limits: Limits{Requests: 2, Burst: 3}, ClientCerts: true, Tokens: []Token{token("a"), token("b")}})
		callers := map[string][]sender{
			"token a": {{"10.0.0.1:1", "a-token", nil}, {"10.0.0.2:1", "a-token", nil}},
			"token b": {{"10.0.0.1:1", "b-token", nil}},
			"cert x":  {certified("x", 1)},
			"cert y":  {certified("y", 1)},
		}
		checkRate(t, s, callers)
		s = newService(t, &one{}, Config{Limits: Limits{Requests: 2, Burst: 3}})
		checkRate(t, s, map[string][]sender{
			"IPv4":         {{remote: "10.0.0.1:1"}, {remote: "10.0.0.1:9"}, {remote: "[::ffff:10.0.0.1]:2"}},
			"another":      {{remote: "10.0.0.2:1"}},
			"IPv6":         {{remote: "[2001:db8::1]:1"}, {remote: "[2001:db8::ffff:1]:1"}, {remote: "[2001:db8::1%eth0]:1"}},
			"another net":  {{remote: "[2001:db8:0:1::1]:1"}},
			"no addresses": {{remote: "@"}},
		})
		s = newService(t, &one{}, Config{Limits: Limits{Requests: 0.5}}) // without a burst
		for range 3 {
			_, first := sender{remote: "@"}.admit(s)
			_, second := sender{remote: "@"}.admit(s)
			if first != nil || second == nil {
				t.Errorf("a request each two seconds: %v, and a second one: %v", first, second)
			}
			time.Sleep(2 * time.Second)
		}
	})
}

// checkRate makes each caller use up its burst, and then a second's requests.
func checkRate(t *testing.T, s *Service, callers map[string][]sender) {
	t.Helper()
	for name, requests := range callers {
		for _, want := range []int{3, 2, 2} {
			admitted, e := 0, (*Error)(nil)
			for i := range 10 {
				if _, err := requests[i%len(requests)].admit(s); err == nil {
					admitted++
				} else if !errors.As(err, &e) || e.Kind != TooManyRequests || e.Retry <= 0 || e.Retry > time.Second/2 {
					t.Errorf("%s: %v", name, err)
				}
			}
			if admitted != want {
				t.Errorf("%s: %d requests are admitted, want %d", name, admitted, want)
			}
			time.Sleep(time.Second)
		}
	}
}

// TestManyCallers shows that the memory for rates is bounded.
func TestManyCallers(t *testing.T) {
	s := newService(t, &one{}, Config{Limits: Limits{Requests: 1}})
	for i := range 2 * mostCallers {
		sender{remote: fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255)}.admit(s)
	}
	if n := s.requests.of.Len(); n != mostCallers {
		t.Errorf("%d callers are remembered, want %d", n, mostCallers)
	}
}

// TestWrongTokens shows that an address that sends wrong tokens cannot guess on. Tokens
// that it has used before stay good, and so do other addresses.
func TestWrongTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, &one{}, Config{Tokens: []Token{token("a"), token("b")}})
		send := func(address, token string) Kind {
			_, err := sender{address, token, nil}.admit(s)
			if e := (*Error)(nil); errors.As(err, &e) {
				return e.Kind
			}
			return Kind{}
		}
		if kind := send("10.0.0.1:1", "a-token"); kind != (Kind{}) {
			t.Errorf("a right token: %q", kind)
		}
		for i := range wrongBurst + 10 {
			want := Unauthorized
			if i >= wrongBurst {
				want = TooManyRequests
			}
			if kind := send("10.0.0.1:2", "guess"); kind != want {
				t.Errorf("wrong token %d: %q, want %q", i, kind, want)
			}
		}
		for _, sent := range []struct {
			address, token string
			want           Kind
		}{
			{"10.0.0.1:3", "b-token", TooManyRequests}, {"10.0.0.1:3", "a-token", Kind{}}, {"10.0.0.2:3", "b-token", Kind{}}, {"10.0.0.2:3", "guess", Unauthorized},
		} {
			if kind := send(sent.address, sent.token); kind != sent.want {
				t.Errorf("%s from %s: %q, want %q", sent.token, sent.address, kind, sent.want)
			}
		}
		time.Sleep(time.Second)
		if kind := send("10.0.0.1:3", "b-token"); kind != (Kind{}) {
			t.Errorf("after a second: %q", kind)
		}
	})
}

// TestGreedy shows that the ids of a caller are limited, those of each generator on their
// own, and that others do not notice. Ids count once, also if the request waits; asking for a
// generator draws none.
func TestGreedy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		empty := true
		issue := counting(0)
		c := &one{entry: entry(func(ctx context.Context, limit int64) (uid.Run, error) {
			if empty {
				empty = false
				return uid.Run{}, ctx.Err()
			}
			return issue(ctx, limit)
		})}
		c.entry.Rate, c.entry.Burst = 1000, 4000 // less than the 5000 of a request
		s := newService(t, c, Config{Tokens: []Token{token("greedy"), token("modest")}})
		draw := func(name string, n int) error {
			caller, err := sender{"10.0.0.1:1", name + "-token", nil}.admit(s)
			need.Must(t, err)
			if _, err := s.Find(t.Context(), caller, "a", n); err != nil {
				t.Error(err)
			}
			_, err = s.Draw(t.Context(), caller, "a", n)
			return err
		}
		need.Must(t, draw("greedy", 5000))
		for range 3 {
			e := (*Error)(nil)
			if err := draw("greedy", 2000); !errors.As(err, &e) || e.Kind != TooManyRequests || e.Retry != 2*time.Second || e.Detail != "more than 1000 ids of \"a\" a second, or 5000 at once" {
				t.Errorf("%v, retry after %v; want 2s", err, e.Retry)
			}
		}
		if err := draw("modest", 5000); err != nil {
			t.Errorf("the other caller: %v", err)
		}
		time.Sleep(2 * time.Second)
		if err := draw("greedy", 2000); err != nil {
			t.Errorf("after two seconds: %v", err)
		}
		c.entry = entry(counting(0))
		c.entry.Rate, c.entry.Burst = 1000, 5000
		if err := draw("greedy", 5000); err != nil {
			t.Errorf("of another generator: %v", err)
		}
		if err := draw("greedy", 1); kindOf(t, err) != TooManyRequests {
			t.Errorf("of another generator: %v", err)
		}
	})
}

// TestOperator shows which callers are operators.
func TestOperator(t *testing.T) {
	operator := token("ops")
	operator.Operations = true
	for _, caller := range []Caller{{}, {cert: "x"}, {token: &operator}} {
		if err := caller.Operator(); err != nil {
			t.Errorf("%q: %v", caller.Name(), err)
		}
	}
	if err := (Caller{token: &Token{Name: "app"}}).Operator(); kindOf(t, err) != Forbidden || err.Error() != `the token "app" is not for operations` {
		t.Errorf("%v", err)
	}
}
