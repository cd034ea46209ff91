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
	link := func(server string) *servertest.Link { return servertest.NewLink(t, func() string { return server }) }
	if s.Kind == "mysql" {
		config, err := mysqldriver.ParseDSN(s.URL)
		need.Must(t, err)
		l := link(config.Addr)
		config.Addr = l.Address()
		return config.FormatDSN(), l
	}
	u, err := url.Parse(s.URL)
	need.Must(t, err)
	l := link(net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "5432")))
	u.Host = l.Address()
	return u.String(), l
}
