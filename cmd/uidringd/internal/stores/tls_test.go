//go:build linux

package stores_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
)

// front returns the host and the options by which a server is reached by TLS only, and
// with a client's certificate only. One certificate is that of the authority, of the server
// and of the client.
func front(t *testing.T, to string) (host string, options url.Values) {
	t.Helper()
	cert, key := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	pair := servertest.Certify(t, cert, key, 1)
	pool := x509.NewCertPool()
	pool.AddCert(pair.Leaf)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool})
	need.Must(t, err)
	var serving sync.WaitGroup
	t.Cleanup(func() {
		listener.Close()
		serving.Wait()
	})
	serving.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { pass(from, to) })
		}
	})
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return "localhost:" + port, url.Values{"ca": {cert}, "cert": {cert}, "key": {key}}
}

// pass passes on what two connections say, until either ends.
func pass(from net.Conn, to string) {
	onward, err := net.Dial("tcp", to)
	if err != nil {
		from.Close()
		return
	}
	var passing sync.WaitGroup
	for a, b := range map[net.Conn]net.Conn{from: onward, onward: from} {
		passing.Go(func() {
			_, _ = io.Copy(a, b)
			a.Close()
			b.Close()
		})
	}
	passing.Wait()
}
