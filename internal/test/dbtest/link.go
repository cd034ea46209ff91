package dbtest

import (
	"cmp"
	"net"
	"net/url"
	"testing"

	mysqldriver "github.com/go-sql-driver/mysql"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
)

// Linked returns a link to the server of s, and the URL of the database through the link.
// It is not for SQLite, which has no server.
func (s *Store) Linked(t *testing.T) (string, *servertest.Link) {
	t.Helper()
	server, at := s.server(t)
	l := servertest.NewLink(t, func() string { return server })
	return at(l.Address()), l
}

// server returns the address of the database server, and the URL of the database as
// a function of an address.
func (s *Store) server(t *testing.T) (address string, at func(address string) string) {
	t.Helper()
	if s.Kind == "mysql" {
		config, err := mysqldriver.ParseDSN(s.URL)
		need.Must(t, err)
		return config.Addr, func(address string) string {
			config.Addr = address
			return config.FormatDSN()
		}
	}
	u, err := url.Parse(s.URL)
	need.Must(t, err)
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "5432")), func(address string) string {
		u.Host = address
		return u.String()
	}
}
