//go:build linux

package edges

import (
	"cmp"
	"os"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/lifecycle"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// A user with the rights that Grants returns, and no others, can do all that a service does.
func TestRights(t *testing.T) {
	for _, kind := range []string{"mysql", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			admin := dbtest.New(t, kind)
			user := strings.ToLower(admin.Table)
			url := admin.URL[:strings.LastIndexByte(admin.URL, '/')+1]
			after := map[string][]string{
				"mysql":    {"CREATE DATABASE " + user, "CREATE USER " + user},
				"postgres": {"CREATE SCHEMA " + user, "CREATE ROLE " + user + " LOGIN", "GRANT USAGE ON SCHEMA " + user + " TO " + user},
			}[kind]
			for _, statement := range after {
				admin.Exec(t, "%s", statement)
			}
			t.Cleanup(func() {
				if kind == "mysql" {
					admin.Exec(t, "DROP DATABASE %s", user)
					admin.Exec(t, "DROP USER %s", user)
				} else {
					admin.Exec(t, "DROP SCHEMA %s CASCADE", user)
					admin.Exec(t, "DROP OWNED BY %s", user)
					admin.Exec(t, "DROP ROLE %s", user)
				}
			})
			own := url + user
			if kind == "postgres" {
				own = admin.With("search_path=" + user)
			}
			owner := admin.Open(t, own)
			leases, registry := worker.NewStore(owner, worker.StoreConfig{}), worker.NewRegistry(owner, worker.RegistryConfig{})
			counters := segmentsql.NewLeafAlloc(owner, segmentsql.Config{Logger: quiet})
			need.Must(t, leases.EnsureSchema(t.Context()))
			need.Must(t, registry.EnsureSchema(t.Context()))
			need.Must(t, counters.Create(t.Context(), "orders", 1, 10))
			need.Must(t, counters.CreateGapless(t.Context(), "invoices", 1))

			for name, grants := range map[string][]string{"leaser": leases.Grants(), "registry": registry.Grants(), "segment": counters.Grants()} {
				t.Run(name, func(t *testing.T) {
					for _, grant := range grants {
						need.Must(t, owner.Exec("GRANT "+grant+" TO "+user).Error)
						defer owner.Exec("REVOKE " + strings.ReplaceAll(grant, " TO ", " FROM ") + " FROM " + user)
					}
					at := cmp.Or(map[string]string{"mysql": user + "@" + own[strings.LastIndexByte(own, '@')+1:]}[kind], admin.With("role="+user+"&search_path="+user))
					db := admin.Open(t, at)
					if err := db.Exec("CREATE TABLE more (id INT)").Error; err == nil {
						t.Error("the user may create tables")
					}
					switch name {
					case "leaser":
						lifecycle.Run(t, func(config lease.Config) *lease.Leaser { return worker.NewLeaser(db, config) })
					case "registry":
						for range 2 {
							gen, err := uid.NewCached(t.Context(), worker.NewRegistry(db, worker.RegistryConfig{Logger: quiet}), uid.CachedConfig{Logger: quiet})
							need.Must(t, err)
							need.Must(t, gen.Close())
						}
					case "segment":
						store := segmentsql.NewLeafAlloc(db, segmentsql.Config{Logger: quiet})
						for range 2 {
							gen, err := segment.New(t.Context(), store, "orders", segment.Config{Logger: quiet})
							need.Must(t, err)
							if _, err := gen.Next(); err != nil {
								t.Error(err)
							}
							need.Must(t, gen.Close())
						}
						tx := db.Begin()
						if n, err := store.NextGapless(tx, "invoices"); n != 1 || err != nil {
							t.Error(n, err)
						}
						need.Must(t, tx.Commit().Error)
					}
				})
			}
		})
	}
	doc, err := os.ReadFile("../../../worker/doc.go")
	need.Must(t, err)
	for _, grant := range worker.NewStore(nil, worker.StoreConfig{}).Grants() {
		if !strings.Contains(string(doc), "GRANT "+grant+" TO ids\n") {
			t.Errorf("doc.go does not show %q", grant)
		}
	}
}
