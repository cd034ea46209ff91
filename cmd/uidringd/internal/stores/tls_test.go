//go:build linux

package stores_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// authority makes certificates.
type authority struct {
	*testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{T: t}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, NotAfter: time.Now().Add(time.Hour)}
	a.cert, a.key = template, nil
	der, key := a.sign(template)
	a.key = key
	a.file = a.write("ca.pem", "CERTIFICATE", der)
	return a
}

func (a *authority) sign(template *x509.Certificate) ([]byte, *ecdsa.PrivateKey) {
	a.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.Fatal(err)
	}
	by := a.key
	if by == nil {
		by = key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, by)
	if err != nil {
		a.Fatal(err)
	}
	return der, key
}

// leaf makes the certificate of a server and client called localhost.
func (a *authority) leaf() (cert, key string) {
	a.Helper()
	der, private := a.sign(&x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}})
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		a.Fatal(err)
	}
	return a.write("cert.pem", "CERTIFICATE", der), a.write("key.pem", "PRIVATE KEY", text)
}

func (a *authority) write(name, kind string, der []byte) string {
	a.Helper()
	file := filepath.Join(a.TempDir(), name)
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.Fatal(err)
	}
	return file
}

// front returns the host and the options by which a server is reached by TLS only, and
// with a client's certificate only.
func front(t *testing.T, to string) (host string, options url.Values) {
	t.Helper()
	a := newAuthority(t)
	cert, key := a.leaf()
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	text, _ := os.ReadFile(a.file)
	pool.AppendCertsFromPEM(text)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool})
	if err != nil {
		t.Fatal(err)
	}
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
	return "localhost:" + port, url.Values{"ca": {a.file}, "cert": {cert}, "key": {key}}
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
