//go:build linux

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"

	uidringv1 "github.com/uidring/uidring/cmd/uidringd/proto/uidring/v1"
	"github.com/uidring/uidring/cmd/uidringd/proto/uidring/v1/uidringv1connect"
	"github.com/uidring/uidring/internal/servertest"
)

// While the store is away, /readyz names the generator that cannot issue ids, and
// shows nothing of the store. The log tells more.
func TestReadyz(t *testing.T) {
	store := servertest.StartRedis(t, append([]string{"--requirepass", "secret-1"}, servertest.Durable...)...)
	t.Setenv("UIDRINGD_TEST_STORE", "redis://:secret-1@"+store.Address())
	dir := t.TempDir()
	r := start(t, dir, "--config", write(t, dir, "c.yaml", `
stores: [{name: redis, env: UIDRINGD_TEST_STORE}]
generators:
  - {name: ids, kind: default, store: redis, window: 2s, expiry: 1s}
  - {name: fixed, kind: slots, worker: "static:1"}
shutdown: {delay: 0s, release: 1s}
`))
	is := func(want int, text string) {
		t.Helper()
		servertest.Eventually(t, text, func() bool {
			status, got := get(t, http.DefaultClient, r.url+"/readyz")
			return status == want && got == text
		})
	}
	is(http.StatusOK, "ready\n")
	store.Pause()
	is(http.StatusServiceUnavailable, "not ready: ids: no time is reserved under its worker number\n")
	if status, _ := get(t, http.DefaultClient, r.url+"/healthz"); status != http.StatusOK {
		t.Errorf("healthz: %d, want 200", status)
	}
	for _, path := range []string{"/metrics", "/status/stats.json"} {
		if status, text := get(t, http.DefaultClient, r.url+path); status != http.StatusOK || strings.Contains(text, "secret-1") {
			t.Errorf("%s: %d, %s", path, status, text)
		}
	}
	if status, _ := get(t, http.DefaultClient, r.url+"/v1/fixed"); status != http.StatusOK {
		t.Errorf("the other generator: %d, want 200", status)
	}
	store.Continue()
	is(http.StatusOK, "ready\n")
	store.Pause()
	if code := r.end(t, syscall.SIGTERM); code != 1 || !strings.Contains(r.log.String(), `not all was given back: generator "ids": redis://`) {
		t.Errorf("exit code %d, want 1, since the number was not given back", code)
	}
	log := r.log.String()
	if strings.Contains(log, "secret-1") || !strings.Contains(log, `msg="not ready" generator=ids`) || !strings.Contains(log, `msg="ready again" generator=ids`) {
		t.Errorf("the log is %s", log)
	}
}

// certify writes a new self-signed certificate for servers and clients, and returns it.
func certify(t *testing.T, dir string, serial int64) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "uidring's test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
	for name, text := range map[string][]byte{"key.pem": private, "cert.pem": public} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pair, err := tls.X509KeyPair(public, private)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// secure asks by TLS on a new connection. It returns the status and the serial number
// of the server's certificate, or an error of the handshake.
func secure(t *testing.T, url string, trusted tls.Certificate, own ...tls.Certificate) (int, int64, error) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(trusted.Leaf)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: own}, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	answer, err := client.Get(url)
	if err != nil {
		return 0, 0, err
	}
	defer answer.Body.Close()
	if answer.ProtoMajor != 2 {
		t.Errorf("%s, want HTTP/2", answer.Proto)
	}
	return answer.StatusCode, answer.TLS.PeerCertificates[0].SerialNumber.Int64(), nil
}

// A client's certificate authenticates. Certificates are read again when the files
// change; those that cannot be read do not replace the ones before.
func TestCertificates(t *testing.T) {
	dir := t.TempDir()
	first := certify(t, dir, 1)
	r := start(t, dir, "--config", write(t, dir, "c.yaml", `
tls: {cert: cert.pem, key: key.pem, client_ca: cert.pem}
generators: [{name: ids, kind: slots, worker: "static:1"}]
`))
	if !strings.HasPrefix(r.url, "https://") {
		t.Fatal(r.url)
	}
	is := func(path string, want int, serial int64, trusted tls.Certificate, own ...tls.Certificate) {
		t.Helper()
		if status, got, err := secure(t, r.url+path, trusted, own...); status != want || got != serial || err != nil {
			t.Errorf("%s: %d, certificate %d, %v; want %d, %d", path, status, got, err, want, serial)
		}
	}
	is("/v1/ids", http.StatusOK, 1, first, first)
	is("/metrics", http.StatusOK, 1, first, first)
	is("/v1/ids", http.StatusUnauthorized, 1, first)
	is("/metrics", http.StatusUnauthorized, 1, first)
	is("/readyz", http.StatusOK, 1, first)

	trusted := x509.NewCertPool()
	trusted.AddCert(first.Leaf)
	sessions := &tls.Config{RootCAs: trusted, Certificates: []tls.Certificate{first}, ClientSessionCache: tls.NewLRUClientSessionCache(1)}
	resume := func() (status int, resumed bool) {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: sessions.Clone()}}
		defer client.CloseIdleConnections()
		answer, err := client.Get(r.url + "/v1/ids")
		if err != nil {
			return 0, false
		}
		defer answer.Body.Close()
		return answer.StatusCode, answer.TLS.DidResume
	}
	servertest.Eventually(t, "a session that is resumed", func() bool {
		status, resumed := resume()
		return status == http.StatusOK && resumed
	})

	second := certify(t, dir, 2)
	servertest.Eventually(t, "the second certificate", func() bool {
		status, serial, err := secure(t, r.url+"/v1/ids", second, second)
		return err == nil && status == http.StatusOK && serial == 2
	})
	if _, _, err := secure(t, r.url+"/v1/ids", second, first); err == nil {
		t.Error("a client of the first authority is let in")
	}
	if status, resumed := resume(); status == http.StatusOK {
		t.Errorf("a client of the first authority is let in by its session, resumed: %v", resumed)
	}

	write(t, dir, "cert.pem", "nothing")
	servertest.Eventually(t, "a warning", func() bool {
		is("/v1/ids", http.StatusOK, 2, second, second)
		return strings.Contains(r.log.String(), "the new certificates cannot be used")
	})
	is("/v1/ids", http.StatusOK, 2, second, second)
	if code := r.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d: %s", code, &r.log)
	}
}

// Metrics have each route, whatever its protocol, and the generators.
func TestMetrics(t *testing.T) {
	r := start(t, t.TempDir())
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols}
	defer transport.CloseIdleConnections()
	client := uidringv1connect.NewIdServiceClient(&http.Client{Transport: transport}, r.url, connect.WithGRPC())
	answer, err := client.Next(context.Background(), &uidringv1.NextRequest{Name: "ids", N: 3})
	if err != nil || len(answer.Ids) != 3 {
		t.Fatalf("%v, %v", answer, err)
	}
	for _, path := range []string{"/v1/ids", "/v1/orders", "/v1/nosuch", "/status/", "/status/stats.json", "/nosuch"} {
		get(t, http.DefaultClient, r.url+path)
	}
	_, page := get(t, http.DefaultClient, r.url+"/status/")
	if !strings.Contains(page, "ids") || !strings.Contains(page, "orders") {
		t.Errorf("the status page lacks a generator: %s", page)
	}
	_, text := get(t, http.DefaultClient, r.url+"/metrics")
	for _, want := range []string{
		`uidringd_request_duration_seconds_count{code="200",route="/uidring.v1.IdService/Next"} 1`,
		`uidringd_request_duration_seconds_count{code="200",route="GET /v1/{name}"} 2`,
		`uidringd_request_duration_seconds_count{code="404",route="GET /v1/{name}"} 1`,
		`uidringd_request_duration_seconds_count{code="200",route="/status/"} 3`,
		`uidringd_request_duration_seconds_bucket{code="200",route="GET /v1/{name}",le="+Inf"} 2`,
		`uidringd_request_duration_seconds_count{code="404",route="/"} 1`,
		`uidring_ids_issued_total{generator="ids"} 4`,
		`uidring_segment_ids_issued_total{generator="orders"} 1`,
		`uidring_segment_loads_total{generator="orders"} 1`,
		`uidringd_requests_in_flight 1`,
		`go_goroutines `,
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("no %s", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// A store that cannot be reached ends the start, without its password in the error.
func TestStoreAway(t *testing.T) {
	t.Setenv("UIDRINGD_TEST_STORE", "mysql://u:secret-1@127.0.0.1:1/test")
	dir := t.TempDir()
	out, err := process(t, dir, "--listen", "127.0.0.1:0", "--config", write(t, dir, "c.yaml", `
stores: [{name: db, env: UIDRINGD_TEST_STORE}]
generators: [{name: ids, kind: cached, store: db}]
`)).CombinedOutput()
	if err == nil || strings.Contains(string(out), "secret-1") || !strings.Contains(string(out), `generator "ids": mysql://u@127.0.0.1:1/test ($UIDRINGD_TEST_STORE): `) {
		t.Errorf("%v, %s", err, out)
	}
}
