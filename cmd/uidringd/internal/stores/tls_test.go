//go:build linux

package stores_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/need"
)

// front returns the host and the options by which a server is reached by TLS only, and
// with a client's certificate only. One certificate is that of the authority, of the server
// and of the client.
func front(t *testing.T, to string) (host string, options url.Values) {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	private, err1 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	der, err2 := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	text, err3 := x509.MarshalPKCS8PrivateKey(private)
	cert, key := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	err4 := os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600)
	err5 := os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text}), 0o600)
	pair, err6 := tls.LoadX509KeyPair(cert, key)
	need.Must(t, errors.Join(err1, err2, err3, err4, err5, err6))
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
