package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// handles are what must be refused, made from a good one.
var handles = map[string]func(t *testing.T, s *store) *gorm.DB{
	"nil":  func(*testing.T, *store) *gorm.DB { return nil },
	"zero": func(*testing.T, *store) *gorm.DB { return &gorm.DB{} },
	"unopened": func(t *testing.T, _ *store) *gorm.DB {
		db, err := gorm.Open(nil, &gorm.Config{})
		need.Must(t, err)
		return db
	},
	"failed": func(_ *testing.T, s *store) *gorm.DB {
		db := s.DB.Session(&gorm.Session{})
		_ = db.AddError(errors.New("earlier"))
		return db
	},
	"dry-run session": func(_ *testing.T, s *store) *gorm.DB { return s.DB.Session(&gorm.Session{DryRun: true}) },
	"dry-run config": func(t *testing.T, s *store) *gorm.DB {
		return s.Reopen(t, nil, gorm.Config{DryRun: true})
	},
	"transaction": func(t *testing.T, s *store) *gorm.DB { return begin(t, s.DB) },
	"transaction, new session": func(t *testing.T, s *store) *gorm.DB {
		return begin(t, s.DB).Session(&gorm.Session{NewDB: true, Context: context.Background()})
	},
	"transaction, prepared session": func(t *testing.T, s *store) *gorm.DB {
		return begin(t, s.DB).Session(&gorm.Session{PrepareStmt: true})
	},
	"transaction of a prepared config": func(t *testing.T, s *store) *gorm.DB {
		return begin(t, s.Reopen(t, nil, gorm.Config{PrepareStmt: true}))
	},
	"handle on a transaction": func(t *testing.T, s *store) *gorm.DB {
		return onTransaction(t, s, gorm.Config{})
	},
	"prepared handle on a transaction": func(t *testing.T, s *store) *gorm.DB {
		return onTransaction(t, s, gorm.Config{PrepareStmt: true})
	},
}

func begin(t *testing.T, db *gorm.DB) *gorm.DB {
	t.Helper()
	tx := db.Begin()
	need.Must(t, tx.Error)
	t.Cleanup(func() { tx.Rollback() })
	return tx
}

// onTransaction opens a handle whose connection is a transaction that GORM did
// not begin.
func onTransaction(t *testing.T, s *store, config gorm.Config) *gorm.DB {
	t.Helper()
	tx := begin(t, s.DB)
	return s.Reopen(t, func(d gorm.Dialector) gorm.Dialector {
		return dbtest.Dialector{Dialector: d, Pool: func(gorm.ConnPool) gorm.ConnPool { return tx.Statement.ConnPool }}
	}, config)
}

func TestRefusesHandle(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		s.create(t)
		for name, handle := range handles {
			t.Run(name, func(t *testing.T) {
				db := handle(t, s)
				number, err := take(t, context.Background(), s.on(db), max22)
				if number != 0 || !errors.Is(err, worker.ErrDB) || !strings.HasPrefix(err.Error(), worker.ErrDB.Error()+": it ") {
					t.Errorf("%d, %v; want ErrDB", number, err)
				}
				_, nodes := s.registry(db).Nodes(context.Background(), 1)
				_, leases := s.leaser(db).Leases(context.Background(), 1)
				for method, err := range map[string]error{
					"EnsureSchema": s.on(db).EnsureSchema(context.Background()),
					"Nodes":        nodes,
					"Leases":       leases,
					"Free":         s.leaser(db).Revoke(context.Background(), 1),
				} {
					if !errors.Is(err, worker.ErrDB) {
						t.Errorf("%s = %v; want ErrDB", method, err)
					}
				}
			})
		}
		wantNumbers(t, s)
	})
}

func TestRefusesAllFaultsAtOnce(t *testing.T) {
	t.Setenv("JPAAS_HOST", "alone")
	bad := worker.RegistryConfig{Prefix: "no; table"}
	for name, a := range map[string]uid.WorkerSource{
		"registry": worker.NewRegistry(nil, bad),
		"leaser":   newLeaser(nil, []option{worker.StoreConfig{Prefix: bad.Prefix}, lease.Config{Expiry: time.Hour}}),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := take(t, context.Background(), a, -1)
			wantAll(t, err, `Prefix is "no; table", want`, "it is nil", "is -1, want 0 or more", "JPAAS_HOST")
			if !errors.Is(err, lease.ErrConfig) || !errors.Is(err, worker.ErrDB) {
				t.Errorf("%v does not match ErrConfig and ErrDB", err)
			}
			if name == "leaser" {
				wantAll(t, err, "Window is 10m0s, want at least Expiry (1h0m0s)")
			}
		})
	}

	_, err := worker.NewRegistry(nil, worker.RegistryConfig{Node: lease.Node{Port: strings.Repeat("9", 65), Type: 3}}).Assign(context.Background(), 1)
	wantAll(t, err, `Node.Host is "", want 1 to 64`, `Node.Port is "999`, "Node.Type is 3, want 1 (NodeContainer) or 2 (NodeActual)", "it is nil")

	for _, host := range []string{"a\x00b", "a\xffb", strings.Repeat("ä", 65)} {
		_, err = worker.NewRegistry(nil, worker.RegistryConfig{Node: lease.Node{Host: host, Port: "1", Type: lease.NodeActual}}).
			Assign(context.Background(), 1)
		wantAll(t, err, "Node.Host")
	}
}

func TestPrefixes(t *testing.T) {
	name, schema := strings.Repeat("n", 51), strings.Repeat("s", 63)+"."
	for prefix, good := range map[string]bool{
		"": true, "ids.": true, "_x9": true, "a.b_": true, "WORKER_": true, name: true, schema + name: true, schema: true,
		"9x": false, ".a": false, "a.b.c": false, name + "n": false, "s" + schema: false, "a b": false, "a-b": false,
		"a`b": false, `a"b`: false, "a;DROP TABLE b": false, "täble": false, "a\n": false,
	} {
		err := worker.NewRegistry(nil, worker.RegistryConfig{Prefix: prefix}).EnsureSchema(context.Background())
		if got := !strings.Contains(err.Error(), "Prefix is"); got != good {
			t.Errorf("%q: good %t, want %t: %v", prefix, got, good, err)
		}
	}
}
