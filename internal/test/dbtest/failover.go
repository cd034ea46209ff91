//go:build linux

package dbtest

import (
	"slices"
	"testing"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/sqldb"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
)

// Failover is two servers of one kind, a primary and another, behind one address. An app that
// uses the address is the user app, who has all rights on tables and none on the server.
type Failover struct {
	Store // the primary through the link
	*servertest.Link
	Hosts          string // the two servers' own addresses, the primary first
	primary, other *servertest.Server
	before, after  *gorm.DB
}

// NewFailover starts servers of a kind, and calls prepare with the app's handle on each. It
// skips the test where there is no such server.
func NewFailover(t *testing.T, kind string, prepare func(db *gorm.DB) error) *Failover {
	t.Helper()
	f := &Failover{Store: Store{Kind: kind}}
	start := func() (*servertest.Server, *gorm.DB) {
		program, grants := servertest.MariaDB, []string{"CREATE USER app", "GRANT ALL ON uidring.* TO app"}
		if kind == "postgres" {
			program, grants = servertest.Postgres, []string{"CREATE ROLE app LOGIN", "GRANT ALL ON SCHEMA public TO app"}
		}
		server := program(t, t.TempDir()).Start(t, Answers)
		db := f.Open(t, server.URL(server.Address))
		for _, grant := range grants {
			need.Must(t, db.Exec(grant).Error)
		}
		need.Must(t, prepare(f.Open(t, f.url(server.Address))))
		return server, db
	}
	f.primary, f.before = start()
	f.other, f.after = start()
	f.Link = servertest.NewLink(t, func() string { return f.primary.Address })
	f.URL, f.Hosts = f.url(f.Address()), f.primary.Address+","+f.other.Address
	return f
}

func (f *Failover) url(address string) string {
	if f.Kind == "mysql" {
		return "app@tcp(" + address + ")/uidring"
	}
	return "postgres://app@" + address + "/postgres?sslmode=disable"
}

// Demote makes the primary read-only, as an operator does who keeps its connections, and
// copies the rows of tables.
func (f *Failover) Demote(t *testing.T, tables ...string) {
	t.Helper()
	statements := []string{"SET GLOBAL read_only = 1"}
	if f.Kind == "postgres" {
		statements = []string{"ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()"}
	}
	for _, statement := range statements {
		need.Must(t, f.before.Exec(statement).Error)
	}
	servertest.Eventually(t, "the primary refuses writes", func() bool {
		return slices.ContainsFunc(tables, func(table string) bool {
			db, err := Open(f.url(f.primary.Address))
			need.Must(t, err)
			refused := db.Exec("DELETE FROM "+table+" WHERE 1 = 0").Error != nil
			need.Must(t, Close(db))
			return refused
		})
	})
	for _, table := range tables {
		table = sqldb.KindOf(f.Kind).Fold(table)
		var rows []map[string]any
		need.Must(t, f.before.Table(table).Find(&rows).Error)
		need.Must(t, f.after.Exec("DELETE FROM "+table).Error)
		need.Must(t, f.after.Table(table).Create(&rows).Error)
	}
}

// Promote makes the address lead to the other server. Connections that are there stay.
func (f *Failover) Promote() { f.Move(f.other.Address) }
