package serve

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/uidring/uidring/cmd/uidringd/internal/config"
)

// loadEvery is the least time between two looks at the files. Handshakes look.
const loadEvery = time.Second

// certificates are files that are read again when they change. If that fails, the failure
// is logged and the earlier certificates stay in use.
type certificates struct {
	files  *config.TLS
	logger *slog.Logger

	mu     sync.Mutex
	loaded time.Time
	failed string // why the files could not be used last
	now    *tls.Config
}

// watch reads the files. It returns nil without any.
func watch(files *config.TLS, logger *slog.Logger) (*certificates, error) {
	if files == nil {
		return nil, nil
	}
	now, err := files.Load()
	return &certificates{files: files, logger: logger, now: now}, err
}

// config returns a server's config, or nil without files.
func (c *certificates) config() *tls.Config {
	if c == nil {
		return nil
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		NextProtos:         c.now.NextProtos,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.present(), nil },
	}
}

// present returns the config of a handshake.
func (c *certificates) present() *tls.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.loaded) < loadEvery {
		return c.now
	}
	c.loaded = time.Now()
	fresh, err := c.files.Load()
	if err != nil {
		if err.Error() != c.failed {
			c.failed = err.Error()
			c.logger.Warn("the new certificates cannot be used: the previous ones stay in use", "error", err)
		}
		return c.now
	}
	c.failed = ""
	if !same(fresh, c.now) { // else clients could not resume their sessions
		c.now = fresh
		c.logger.Info("the certificates were reloaded", "not_after", fresh.Certificates[0].Leaf.NotAfter)
	}
	return c.now
}

// same reports whether two configs have the same certificates and authorities.
func same(a, b *tls.Config) bool {
	return slices.EqualFunc(a.Certificates[0].Certificate, b.Certificates[0].Certificate, bytes.Equal) && a.ClientCAs.Equal(b.ClientCAs)
}

// end returns when the certificate in use ends.
func (c *certificates) end() time.Time { return c.present().Certificates[0].Leaf.NotAfter }
