package config

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/cmd/uidringd/internal/stores"
)

// Backend returns the kind of the store, of those of package database.
func (s *Store) Backend() string { return database.KindOf(s.text) }

// DSN returns where the store is. Keep its text out of logs.
func (s *Store) DSN() database.DSN {
	origin := cmp.Or(s.File, "the config")
	if s.Env != "" {
		origin = "$" + s.Env
	}
	return stores.At(s.text, origin)
}

// passwordPattern finds the password of a URL, or of a DSN as drivers have it. A slash
// can stand in that of u:p@tcp(h)/db.
var passwordPattern = regexp.MustCompile(`(?i)^([a-z0-9+.-]+://)?[^/@:]*:[^/]+@|^[^/@:]*:.+@(\w*\(|/)|(password|passwd|pwd)\s*=`)

func (s *Store) check(d *document, field string) {
	sources := 0
	for _, source := range []string{s.URL, s.Env, s.File} {
		if source != "" {
			sources++
		}
	}
	switch {
	case sources != 1:
		d.fault(field, "want exactly one of url, env and file")
	case passwordPattern.MatchString(s.URL):
		d.fault(field+".url", "it has a password: want env or file, so that the config holds no secret")
	default:
		if err := s.load(); err != nil {
			d.fault(field, "%v", err)
		} else if err := s.DSN().Check(); err != nil {
			d.fault(field, "%s", cli.WithoutPrefix(err))
		}
	}
}

// longestSecret is the most that is read of a file.
const longestSecret = 64 << 10

// load reads the URL. Its error names the source alone.
func (s *Store) load() error {
	switch {
	case s.Env != "":
		if s.text = os.Getenv(s.Env); s.text == "" {
			return fmt.Errorf("the environment variable %s is empty or not set", s.Env)
		}
	case s.File != "":
		text, err := cli.ReadFile(s.File, longestSecret)
		if err != nil {
			return err
		}
		if s.text = strings.TrimSpace(string(text)); s.text == "" {
			return fmt.Errorf("the file %s has no URL", s.File)
		}
	default:
		s.text = s.URL
	}
	return nil
}
