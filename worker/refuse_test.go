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

func begin(t *testing.T, db *gorm.DB) *gorm.DB {
	t.Helper()
	tx := db.Begin()
	need.Must(t, tx.Error)
	t.Cleanup(func() { tx.Rollback() })
	return tx
}

// wantFrom fails unless the error of a start and those of all methods beside it match want.
func (s *store) wantFrom(t *testing.T, ctx context.Context, db *gorm.DB, want, start error) {
	t.Helper()
	_, nodes := s.registry(db).Nodes(ctx, 1)
	_, leases := s.leaser(db).Leases(ctx, 1)
	for method, err := range map[string]error{
		"a start": start, "EnsureSchema": s.on(db).EnsureSchema(ctx), "Nodes": nodes, "Leases": leases, "Revoke": s.leaser(db).Revoke(ctx, 1),
	} {
		if !errors.Is(err, want) {
			t.Errorf("%s: %v; want %v", method, err, want)
		}
	}
}

func TestRefusesHandle(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		s.create(t)
		tx, failed := begin(t, s.DB), s.DB.Session(&gorm.Session{})
		_ = failed.AddError(errors.New("earlier"))
		prepared := s.Reopen(t, func(d gorm.Dialector) gorm.Dialector {
			return dbtest.Dialector{Dialector: d, Pool: func(gorm.ConnPool) gorm.ConnPool { return tx.Statement.ConnPool }}
		}, gorm.Config{PrepareStmt: true})
		for name, db := range map[string]*gorm.DB{
			"nil": nil, "failed": failed, "dry run": s.DB.Session(&gorm.Session{DryRun: true}), "transaction": tx, "prepared handle on a transaction": prepared,
		} {
			t.Run(name, func(t *testing.T) {
				_, err := take(t, t.Context(), s.on(db), max22)
				need.Error(t, err, nil, worker.ErrDB.Error()+": it ")
				s.wantFrom(t, t.Context(), db, worker.ErrDB, err)
			})
		}
		wantNumbers(t, s)
	})
}

func TestRefusesAllFaultsAtOnce(t *testing.T) {
	t.Setenv("JPAAS_HOST", "alone")
	const bad = "no; table"
	for name, a := range map[string]uid.WorkerSource{
		"registry": worker.NewRegistry(nil, worker.RegistryConfig{Prefix: bad}),
		"leaser":   lease.New(worker.NewStore(nil, worker.StoreConfig{Prefix: bad}), lease.Config{Expiry: time.Hour}),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := take(t, context.Background(), a, -1)
			need.Error(t, err, lease.ErrConfig, `Prefix is "no; table", want`, "is -1, want 0 or more", "JPAAS_HOST")
			need.Error(t, err, worker.ErrDB, "it is nil")
			if name == "leaser" {
				need.Error(t, err, nil, "Window is 10m0s, want at least Expiry (1h0m0s)")
			}
		})
	}
	_, err := worker.NewRegistry(nil, worker.RegistryConfig{Node: lease.Node{Port: "a\xffb", Type: 3}}).Assign(context.Background(), 1)
	need.Error(t, err, nil, `Node.Host is "", want 1 to 64`, `Node.Port is "a`, "Node.Type is 3, want 1 (NodeContainer) or 2 (NodeActual)", "it is nil")
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
