package serve

import (
	"net/http"
	"strings"

	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// inForce is a config and what answers requests under it. It does not change: a reload
// replaces it, and requests that have begun end under the one before.
type inForce struct {
	config *config.Config
	ids    *service.Service
	seen   *observer
	routes http.Handler
}

// ServeHTTP implements [http.Handler].
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.now.Load().routes.ServeHTTP(w, r)
}

// force makes a config take effect.
func (s *server) force(c *config.Config) error {
	next, err := s.under(c)
	if err != nil {
		return err
	}
	if s.doors != nil {
		limits, fault := fits(c.Limits)
		if fault != nil {
			s.logger.Warn("too few open files", "error", fault)
		}
		s.doors.Limit(limits)
	}
	s.now.Store(next)
	return nil
}

// reload reads the config anew. It takes over all changes or none, and logs which. read
// is nil without a file.
func (s *server) reload(read func() (*config.Config, error)) {
	refuse := func(why string, args ...any) {
		s.logger.Error("SIGHUP: the config stays as it is: "+why, args...)
	}
	if read == nil {
		refuse("the server was started without --config")
		return
	}
	c, err := read()
	if err != nil {
		refuse("the file has faults", "error", strings.ReplaceAll(err.Error(), "\n", "; "))
		return
	}
	changed, restart := config.Changes(s.now.Load().config, c)
	switch {
	case len(restart) > 0:
		refuse("a change of these keys needs a restart", "keys", strings.Join(restart, ", "))
	case len(changed) == 0:
		s.logger.Info("SIGHUP: the config was read again, and nothing in it has changed")
	default:
		if err := s.force(c); err != nil {
			refuse("it has faults", "error", err)
			return
		}
		s.logger.Info("SIGHUP: the config was read again", "changed", strings.Join(changed, ", "))
	}
}
