//go:build linux

package edges

import (
	"os"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/lifecycle"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// restricted is a database user without rights, who has a database of their own.
type restricted struct {
	name  string
	owner *gorm.DB                    // the handle of the tables' owner
	open  func(t *testing.T) *gorm.DB // opens one of the user, who needs a right
}

func newRestricted(t *testing.T, kind string) restricted {
	t.Helper()
	admin := dbtest.New(t, kind)
	user := strings.ToLower(admin.Table)
	before := map[string][]string{
		"mysql":    {"CREATE DATABASE " + user, "CREATE USER " + user + " IDENTIFIED BY 'secret'"},
		"postgres": {"CREATE SCHEMA " + user, "CREATE ROLE " + user + " LOGIN", "GRANT USAGE ON SCHEMA " + user + " TO " + user},
	}[kind]
	after := map[string][]string{
		"mysql":    {"DROP DATABASE " + user, "DROP USER " + user},
		"postgres": {"DROP SCHEMA " + user + " CASCADE", "DROP OWNED BY " + user, "DROP ROLE " + user},
	}[kind]
	for _, statement := range before {
		admin.Exec(t, "%s", statement)
	}
	t.Cleanup(func() {
		for _, statement := range after {
			admin.Exec(t, "%s", statement)
		}
	})
	if kind == "postgres" {
		return restricted{user, admin.Open(t, admin.With("search_path="+user)), func(t *testing.T) *gorm.DB {
			return admin.Open(t, admin.With("role="+user+"&search_path="+user+"&application_name="+user))
		}}
	}
	own := admin.URL[:strings.LastIndexByte(admin.URL, '/')+1] + user
	return restricted{user, admin.Open(t, own), func(t *testing.T) *gorm.DB {
		return admin.Open(t, user+":secret@"+own[strings.LastIndexByte(own, '@')+1:])
	}}
}

func (u restricted) grant(t *testing.T, grants ...string) {
	t.Helper()
	for _, grant := range grants {
		need.Must(t, u.owner.Exec("GRANT "+grant+" TO "+u.name).Error)
	}
}

func (u restricted) revoke(t *testing.T, grants ...string) {
	t.Helper()
	for _, grant := range grants {
		need.Must(t, u.owner.Exec("REVOKE "+grant+" FROM "+u.name).Error)
	}
}

// A user with the rights that Grants returns, and no others, can do all that a service does, and raises the key above the
// numbers of Leasers. TestErrorsNameTheGrants has Registries and the calls of a counter.
func TestRights(t *testing.T) {
	for _, kind := range []string{"mysql", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			user := newRestricted(t, kind)
			store := worker.NewStore(user.owner, worker.StoreConfig{})
			need.Must(t, store.EnsureSchema(t.Context()))
			for range 2 { // so that the key has to be raised, once the Registry's table is there
				running(t, worker.NewLeaser(user.owner, lease.Config{Logger: quiet}))
			}
			need.Must(t, worker.NewRegistry(user.owner, worker.RegistryConfig{}).EnsureSchema(t.Context()))
			user.grant(t, store.Grants()...)
			db := user.open(t)
			if err := db.Exec("CREATE TABLE more (id INT)").Error; err == nil {
				t.Error("the user may create tables")
			}
			lifecycle.Run(t, func(config lease.Config) *lease.Leaser { return worker.NewLeaser(db, config) })
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

// A Leaser that lacks a right uses up no key, and its error has the GRANT. A Registry needs no right on WORKER_LEASE.
func TestRightsBeforeKeys(t *testing.T) {
	for _, kind := range []string{"mysql", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			user := newRestricted(t, kind)
			running(t, worker.NewLeaser(user.owner, lease.Config{Logger: quiet}))
			keys := func() (n int64) {
				need.Must(t, user.owner.Raw("SELECT MAX(id) FROM "+user.owner.Statement.Quote(map[string]string{"mysql": "WORKER_NODE", "postgres": "worker_node"}[kind])).Scan(&n).Error)
				return n
			}
			user.grant(t, worker.NewRegistry(user.owner, worker.RegistryConfig{}).Grants()...)
			db := user.open(t)
			need.Must(t, running(t, worker.NewRegistry(db, worker.RegistryConfig{Logger: quiet})).Close())
			user.grant(t, worker.NewStore(user.owner, worker.StoreConfig{}).Grants()...)
			before := keys()
			for _, lacks := range []string{"UPDATE ON WORKER_LEASE", "INSERT ON WORKER_LEASE", "INSERT ON WORKER_NODE"} {
				user.revoke(t, lacks)
				_, err := uid.NewCached(t.Context(), worker.NewLeaser(db, lease.Config{Logger: quiet}), uid.CachedConfig{Logger: quiet})
				need.Error(t, err, nil, "the user needs GRANT")
				user.grant(t, lacks)
			}
			if n := keys(); n != before {
				t.Errorf("the greatest key is %d, want %d", n, before)
			}
			if kind != "postgres" {
				return
			}
			// A key with a sequence, unlike an identity column, needs a right on that sequence.
			for _, statement := range []string{"ALTER TABLE worker_node ALTER COLUMN id DROP IDENTITY", "CREATE SEQUENCE own START 100 OWNED BY worker_node.id",
				"ALTER TABLE worker_node ALTER COLUMN id SET DEFAULT nextval('own')"} {
				need.Must(t, user.owner.Exec(statement).Error)
			}
			for _, source := range []uid.WorkerSource{worker.NewLeaser(db, lease.Config{Logger: quiet}), worker.NewRegistry(db, worker.RegistryConfig{Logger: quiet})} {
				_, err := uid.NewCached(t.Context(), source, uid.CachedConfig{Logger: quiet})
				need.Error(t, err, nil, "GRANT USAGE ON SEQUENCE ", ".own:")
			}
		})
	}
}
