package serve

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/uidring/uidring/cmd/uidringd/config"
)

// lookEvery is how often certificates are looked at, at most. Handshakes ask.
const lookEvery = time.Second

// certificates are files that are read again when they change. A change that cannot be
// read is logged, and what was read before stays in use.
type certificates struct {
	files  *config.TLS
	logger *slog.Logger

	mu     sync.Mutex
	looked time.Time
	seen   [3]stamp
	now    *tls.Config
}

// stamp tells one content of a file from another.
type stamp struct {
	changed time.Time
	size    int64
}

// watch reads the files. It returns nil without any.
func watch(files *config.TLS, logger *slog.Logger) (*certificates, error) {
	if files == nil {
		return nil, nil
	}
	c := &certificates{files: files, logger: logger}
	c.seen = c.stamps()
	var err error
	c.now, err = files.Load()
	return c, err
}

// config returns what a server needs. It returns nil without files.
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

func (c *certificates) present() *tls.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) < lookEvery {
		return c.now
	}
	c.looked = time.Now()
	if seen := c.stamps(); seen != c.seen {
		c.seen = seen
		fresh, err := c.files.Load()
		if err != nil {
			c.logger.Warn("the new certificates cannot be used: the ones before stay in use", "error", err)
			return c.now
		}
		c.logger.Info("the certificates were read again")
		c.now = fresh
	}
	return c.now
}

func (c *certificates) stamps() (s [3]stamp) {
	for i, path := range []string{c.files.Cert, c.files.Key, c.files.ClientCA} {
		if info, err := os.Stat(path); path != "" && err == nil {
			s[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return s
}
