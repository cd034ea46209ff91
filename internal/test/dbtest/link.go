package dbtest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/servertest"
)

// Linked returns a link to the server of s, and the URL of the database through the link.
// It is not for SQLite, which has no server.
func (s *Store) Linked(t *testing.T) (string, *servertest.Link) {
	t.Helper()
	address := regexp.MustCompile(`([\w.-]+:\d+)[)/]`).FindStringSubmatch(s.URL)
	if address == nil {
		t.Fatalf("%s has no port", s.URL)
	}
	l := servertest.NewLink(t, func() string { return address[1] })
	return strings.Replace(s.URL, address[1], l.Address(), 1), l
}
