//go:build linux

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/servertest"
)

// certify writes a new self-signed certificate for servers and clients, and returns it.
func certify(t *testing.T, dir string, serial int64) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "uidring's test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Duration(serial) * time.Hour), IsCA: true, BasicConstraintsValid: true,
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
	config := trusts(trusted)
	config.Certificates = own
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}}
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
	gauge := func(used, own tls.Certificate) {
		t.Helper()
		config := trusts(used)
		config.Certificates = []tls.Certificate{own}
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
		defer client.CloseIdleConnections()
		_, text := get(t, client, r.url+"/metrics")
		_, after, _ := strings.Cut(text, "\nuidringd_certificate_not_after_timestamp_seconds ")
		after, _, _ = strings.Cut(after, "\n")
		if seconds, err := strconv.ParseFloat(after, 64); err != nil || int64(seconds) != used.Leaf.NotAfter.Unix() {
			t.Errorf("the certificate ends at %q, want %d", after, used.Leaf.NotAfter.Unix())
		}
	}
	gauge(first, first)

	sessions := trusts(first)
	sessions.Certificates, sessions.ClientSessionCache = []tls.Certificate{first}, tls.NewLRUClientSessionCache(1)
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
	gauge(second, second)
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

// Files that could not be read are read again although nothing but their permission has
// changed. A rotated authority of clients counts although the certificate stays. SIGHUP does nothing.
func TestCertificateFiles(t *testing.T) {
	dir, clients := t.TempDir(), t.TempDir()
	own, first := certify(t, dir, 1), certify(t, clients, 2)
	authority := func() {
		text, err := os.ReadFile(filepath.Join(clients, "cert.pem"))
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, "ca.pem", string(text))
	}
	authority()
	r := start(t, dir, "--config", write(t, dir, "c.yaml", `
tls: {cert: cert.pem, key: key.pem, client_ca: ca.pem}
generators: [{name: ids, kind: slots, worker: "static:1"}]
`))
	let := func(server tls.Certificate, serial int64, client tls.Certificate) func() bool {
		return func() bool {
			status, got, err := secure(t, r.url+"/v1/ids", server, client)
			return err == nil && status == http.StatusOK && got == serial
		}
	}
	servertest.Eventually(t, "a client of the first authority", let(own, 1, first))
	second := certify(t, clients, 3)
	authority()
	servertest.Eventually(t, "a client of the second authority", let(own, 1, second))

	next := t.TempDir() // swapped in by a link, whose target cannot be read at first
	renewed := certify(t, next, 4)
	for _, name := range []string{"cert.pem", "key.pem"} {
		if err := os.Rename(filepath.Join(next, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	key := filepath.Join(dir, "key.pem")
	good, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(key)
	if err != nil {
		t.Fatal(err)
	}
	spoil := func(text []byte) { // as a permission does, it changes neither size nor time
		if err := errors.Join(os.WriteFile(key, text, 0o600), os.Chtimes(key, info.ModTime(), info.ModTime())); err != nil {
			t.Fatal(err)
		}
	}
	spoil(make([]byte, len(good)))
	servertest.Eventually(t, "a warning", func() bool {
		_ = let(own, 1, second)()
		return strings.Contains(r.log.String(), "the new certificates cannot be used")
	})
	spoil(good)
	servertest.Eventually(t, "the renewed certificate", let(renewed, 4, second))
	if err := r.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if code := r.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d after SIGHUP and SIGTERM", code)
	}
	if !strings.Contains(r.log.String(), "not_after=") {
		t.Errorf("the log does not say when the certificate ends: %s", &r.log)
	}
}

// trusts returns a config that trusts servers with these certificates.
func trusts(servers ...tls.Certificate) *tls.Config {
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	for _, server := range servers {
		config.RootCAs.AddCert(server.Leaf)
	}
	return config
}

// A client that does not end its handshake has its connection no longer than the
// limits allow.
func TestSlowHandshake(t *testing.T) {
	dir := t.TempDir()
	certify(t, dir, 1)
	r := start(t, dir, "--config", write(t, dir, "c.yaml", `
tls: {cert: cert.pem, key: key.pem, client_ca: cert.pem}
generators: [{name: ids, kind: slots, worker: "static:1"}]
limits: {connections: 1, read: 200ms, write: 1h, idle: 1h}
`))
	for name, sent := range map[string]string{"nothing": "", "a part": "\x16\x03\x01\x02"} {
		conn := reach(t, r.address())
		if _, err := io.WriteString(conn, sent); err != nil {
			t.Fatal(err)
		}
		if !ended(t, conn) {
			t.Errorf("after %s the connection is open", name)
		}
	}
}
