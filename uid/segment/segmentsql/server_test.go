//go:build linux

package segmentsql_test

import (
	"testing"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

// Servers that are killed amid requests and start again, and networks that hang.
func TestServers(t *testing.T) {
	need.CI(t)
	for kind, prepare := range map[string]func(*testing.T, string) servertest.Database{
		"mysql":    servertest.MariaDB,
		"postgres": servertest.Postgres,
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			database := prepare(t, t.TempDir())
			start := func() *servertest.Server { return database.Start(t, dbtest.Answers) } // until t ends
			server := start()
			segmenttest.Suite{Open: func(t *testing.T) segmenttest.Backend {
				// The address of the link stays when the server's changes.
				url, link := (&dbtest.Store{Kind: kind, URL: server.URL(server.Address)}).Linked(t)
				s := dbtest.At(t, kind, url)
				open := func(t *testing.T) segment.Store {
					return segmentsql.NewLeafAlloc(s.Open(t, url), segmentsql.Config{Table: s.Table})
				}
				return segmenttest.Backend{Store: open, Faulty: func(t *testing.T) (segment.Store, segmenttest.Faults) {
					killed := false
					return open(t), segmenttest.Faults{
						Hang: link.Hang,
						Cut:  func() { server.Kill(); killed = true },
						Heal: func() {
							if killed {
								server, killed = start(), false
								link.Move(server.Address)
							}
							if err := link.Mend(); err != nil {
								t.Error(err)
							}
						},
					}
				}}
			}}.Outages(t)
		})
	}
}
