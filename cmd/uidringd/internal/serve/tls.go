package serve

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/uidring/uidring/cmd/uidringd/internal/config"
)

// lookEvery is the least time between two looks at the files. Handshakes look.
const lookEvery = time.Second

// certificates are files that are read again when they change. If that fails, the failure
// is logged and the earlier certificates stay in use.
type certificates struct {
	files  *config.TLS
	logger *slog.Logger

	mu     sync.Mutex
	looked time.Time
	seen   [3]stamp // of the files in now
	failed string   // why the files that changed since could not be used
	now    *tls.Config
}

// stamp is what changes with a file's content.
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
	if time.Since(c.looked) < lookEvery {
		return c.now
	}
	c.looked = time.Now()
	seen := c.stamps()
	if seen == c.seen {
		return c.now
	}
	fresh, err := c.files.Load()
	if err != nil { // it is tried again, since a permission changes no stamp
		if text := err.Error(); text != c.failed {
			c.failed = text
			c.logger.Warn("the new certificates cannot be used: the ones before stay in use", "error", err)
		}
		return c.now
	}
	c.seen, c.failed, c.now = seen, "", fresh
	c.logger.Info("the certificates were read again", "not_after", fresh.Certificates[0].Leaf.NotAfter)
	return c.now
}

// end returns when the certificate in use ends.
func (c *certificates) end() time.Time { return c.present().Certificates[0].Leaf.NotAfter }

func (c *certificates) stamps() (s [3]stamp) {
	for i, path := range []string{c.files.Cert, c.files.Key, c.files.ClientCA} {
		if info, err := os.Stat(path); path != "" && err == nil {
			s[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return s
}
