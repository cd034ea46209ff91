package serve

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
)

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	need.Must(t, os.WriteFile(path, text, 0o600))
}

// trusts returns the config of a client that trusts a server.
func trusts(server tls.Certificate, own ...tls.Certificate) *tls.Config {
	config := &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "127.0.0.1", Certificates: own}
	config.RootCAs.AddCert(server.Leaf)
	return config
}

// secure asks by TLS on a new connection.
func (w *world) secure(path string, config *tls.Config) (status int, state tls.ConnectionState, text string) {
	w.t.Helper()
	client := http.Client{Transport: &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
		return w.dial(w.web, "10.0.0.1"), nil
	}}}
	defer client.CloseIdleConnections()
	answer, err := client.Get("https://127.0.0.1" + path)
	if err != nil {
		return 0, tls.ConnectionState{}, err.Error()
	}
	defer answer.Body.Close()
	all, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, *answer.TLS, string(all)
}

// A client's certificate authenticates by both protocols. Certificates and authorities are read
// again when the files change; those that cannot be read do not replace the ones before.
func TestCertificates(t *testing.T) {
	dir := t.TempDir()
	cert, key, ca, secret := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "ca.pem"), filepath.Join(dir, "secret.pem")
	first, client := servertest.Certify(t, cert, key, 1), servertest.Certify(t, ca, secret, 2)
	config := fmt.Sprintf("tls: {cert: %s, key: %s, client_ca: %s}\n", cert, key, ca) + strings.ReplaceAll(tokens, `["*"], operations: true`, "[ids]")
	inMemory(t, config, func(w *world) {
		is := func(path string, want int, config *tls.Config, serial int64) {
			t.Helper()
			status, state, text := w.secure(path, config)
			if status != want || status > 0 && (state.PeerCertificates[0].SerialNumber.Int64() != serial || state.NegotiatedProtocol != "h2") {
				t.Errorf("%s: %d, %s; want %d and certificate %d", path, status, text, want, serial)
			}
		}
		for _, path := range []string{"/v1/ids", "/metrics"} {
			is(path, http.StatusOK, trusts(first, client), 1)
			is(path, http.StatusUnauthorized, trusts(first), 1)
		}
		is("/readyz", http.StatusOK, trusts(first), 1)
		for _, tt := range []struct {
			commands string
			own      []tls.Certificate
			want     string
		}{
			{"AUTH a\r\nGET ids", nil, "+OK\r\n$"},
			{"AUTH a\r\nGET rare", []tls.Certificate{client}, "+OK\r\n-NOPERM "},
			{"GET rare", []tls.Certificate{client}, "$"},
			{"GET ids", nil, "-NOAUTH "},
			{"AUTH b\r\nGET ids", nil, "-WRONGPASS "},
		} {
			conn := tls.Client(w.dial(w.redis, "10.0.0.1"), trusts(first, tt.own...))
			go func() { _, _ = io.WriteString(conn, tt.commands+"\r\nQUIT\r\n") }()
			if text, err := io.ReadAll(conn); !strings.HasPrefix(string(text), tt.want) || !strings.HasSuffix(string(text), "+OK\r\n") {
				t.Errorf("%q gets %q, %v; want %q", tt.commands, text, err, tt.want)
			}
		}
		before := w.files.present()
		if time.Sleep(time.Hour); w.files.present() != before {
			t.Error("clients cannot resume their sessions, although no file has changed")
		}

		other := servertest.Certify(t, ca, secret, 3)
		is("/v1/ids", http.StatusOK, trusts(first, client), 1) // nobody looks twice in a second
		time.Sleep(time.Second)
		is("/v1/ids", http.StatusOK, trusts(first, other), 1)
		is("/v1/ids", 0, trusts(first, client), 1)
		if w.files.present() == before {
			t.Error("clients of the first authority can resume their sessions")
		}

		second := servertest.Certify(t, cert, key, 4)
		good, err := os.ReadFile(key)
		need.Must(t, err)
		write(t, key, make([]byte, len(good)))
		for range 3 {
			time.Sleep(time.Second)
			is("/v1/ids", http.StatusOK, trusts(first, other), 1)
		}
		write(t, key, good)
		time.Sleep(time.Second)
		is("/v1/ids", http.StatusOK, trusts(second, other), 4)
		for _, file := range [][]byte{make([]byte, len(good)), good, make([]byte, len(good))} {
			write(t, key, file)
			time.Sleep(time.Second)
			is("/v1/ids", http.StatusOK, trusts(second, other), 4)
		}
		log := w.log.String()
		if strings.Count(log, "the new certificates cannot be used") != 3 || strings.Count(log, "the certificates were reloaded") != 2 || !strings.Contains(log, "not_after=2100-01-04") {
			t.Errorf("the log is %s", log)
		}
		_, _, metrics := w.secure("/metrics", trusts(second, other))
		clitest.Wants(t, metrics, fmt.Sprintf("\nuidringd_certificate_not_after_timestamp_seconds %v\n", float64(second.Leaf.NotAfter.Unix())),
			`uidringd_request_duration_seconds_count{code="200",route="redis GET"} 2`, `uidringd_request_duration_seconds_count{code="403",route="redis GET"} 1`,
			`uidringd_caller_requests_total{caller="a",code="403"} 1`, `uidringd_caller_requests_total{caller="(certificate)",code="200"}`)
	})
}
