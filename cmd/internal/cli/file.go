package cli

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

var errIrregular = errors.New("want a regular file, not a pipe or a folder")

// ReadFile reads a regular file of at most most bytes. It refuses pipes: a read of a pipe can
// wait forever.
func ReadFile(path string, most int64) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errIrregular}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return text, err
}

// longestPEM is the most that is read of a file of certificates or of a key.
const longestPEM = 16 << 20

// KeyPair reads a certificate and its key from PEM files.
func KeyPair(cert, key string) (tls.Certificate, error) {
	certs, err := ReadFile(cert, longestPEM)
	keys, unread := ReadFile(key, longestPEM)
	pair, wrong := tls.X509KeyPair(certs, keys)
	if err = cmp.Or(err, unread, wrong); err != nil {
		return pair, fmt.Errorf("%s and %s: %w", cert, key, err)
	}
	return pair, nil
}

// Authorities reads certificates of authorities from a PEM file.
func Authorities(path string) (*x509.CertPool, error) {
	text, err := ReadFile(path, longestPEM)
	pool := x509.NewCertPool()
	if err == nil && !pool.AppendCertsFromPEM(text) {
		err = fmt.Errorf("%s has no certificate in PEM", path)
	}
	return pool, err
}
