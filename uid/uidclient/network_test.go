package uidclient

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// startTLS starts a server with HTTP/2, and returns its URL and the config of a client that
// trusts it. On a busy machine no id of that client grows old.
func startTLS(t *testing.T, server *httptest.Server) (string, Config) {
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	trusted := x509.NewCertPool()
	trusted.AddCert(server.Certificate())
	return server.URL, Config{TLS: &tls.Config{RootCAs: trusted, Certificates: server.TLS.Certificates}, Timeout: time.Minute, MaxAge: uid.Unlimited}
}

// Over a real network: HTTPS with a token, redirects, and errors without the token.
func TestNetwork(t *testing.T) {
	ids := newFake("a", 1)
	authorized := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/away/v1/orders/runs":
			http.Redirect(w, r, "/v1/orders/runs", http.StatusTemporaryRedirect)
		case r.URL.Path == "/truncated/v1/orders/runs":
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(`{"instance":"a","number":1,"runs":[{"first":"1","count":12`))
		case r.URL.Path == "/header/v1/orders/runs":
			w.Header().Set("Long", strings.Repeat("a", 1<<20))
			ids.ServeHTTP(w, r)
		case r.Header.Get("Authorization") != "Bearer "+secret || r.URL.User != nil || r.Header.Get("Accept") != "application/json" || len(r.TLS.PeerCertificates) != 1:
			w.WriteHeader(http.StatusUnauthorized)
		default:
			ids.ServeHTTP(w, r)
		}
	})
	server := httptest.NewUnstartedServer(authorized)
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	url, config := startTLS(t, server)
	config.Token = secret
	plain := httptest.NewServer(authorized)
	defer plain.Close()
	c, err := New(t.Context(), []string{url}, "orders", config)
	need.Must(t, err)
	defer c.Close()
	take(t, c, 1, 1000)

	for name, change := range map[string]func(url *string, config *Config){
		"status 401":                     func(_ *string, config *Config) { config.Token = "another-" + secret },
		"status 307":                     func(url *string, _ *Config) { *url += "/away" },
		"unexpected EOF":                 func(url *string, _ *Config) { *url += "/truncated" },
		"exceeded 65536 bytes":           func(url *string, _ *Config) { *url += "/header" },
		"certificate signed by unknown":  func(_ *string, config *Config) { config.TLS = nil },
		"refused":                        func(url *string, _ *Config) { *url = "https://127.0.0.1:1" },
		"server gave HTTP response to H": func(url *string, _ *Config) { *url = strings.Replace(plain.URL, "http:", "https:", 1) },
	} {
		url, config := url, config
		change(&url, &config)
		_, err := New(t.Context(), []string{url}, "orders", config)
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), secret) {
			t.Errorf("New() = %v, want %q in it, and no token", err, name)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) != (name == "unexpected EOF") {
			t.Errorf("New() = %v: it does not match the cause", err)
		}
		if refused := strings.HasPrefix(name, "status"); errors.Is(err, uid.ErrUnavailable) == refused {
			t.Errorf("New() = %v; uid.ErrUnavailable: %v", err, !refused)
		}
	}
}

// Close ends the connections, and so does New if it fails.
func TestConnectionsEnd(t *testing.T) {
	ended := make(chan net.Conn, 10)
	server := httptest.NewUnstartedServer(newFake("a", 1))
	server.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			ended <- conn
		}
	}
	wait := func() {
		t.Helper()
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			t.Error("the connection stays open")
		}
	}
	server.Start()
	defer server.Close()
	c, err := New(t.Context(), []string{server.URL}, "orders", Config{})
	need.Must(t, err)
	need.Must(t, c.Close())
	wait()
	if _, err := New(t.Context(), []string{server.URL}, "unknown", Config{}); err == nil {
		t.Error("New() succeeds with an unknown name")
	}
	wait()
}

// No more of an answer is read than it can have.
func TestEndlessAnswer(t *testing.T) {
	written := make(chan int)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		sum := 0
		for part := make([]byte, 1<<20); sum < 256<<20; {
			n, err := w.Write(part)
			sum += n
			if err != nil {
				break
			}
		}
		written <- sum
	}))
	defer server.Close()
	_, err := New(t.Context(), []string{server.URL}, "orders", Config{})
	need.Error(t, err, ErrAnswer)
	for range 2 { // the only server is asked twice
		if sum := <-written; sum >= 256<<20 {
			t.Error("an answer was read to its end")
		}
	}
}
