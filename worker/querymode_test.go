package worker_test

import (
	"context"
	"testing"

	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// queryModes are the ways in which PostgreSQL's driver sends statements. Behind a
// pool such as PgBouncer, some have to do without prepared ones.
var queryModes = []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"}

// However statements are sent, numbers are taken, listed, looked at and given back.
func TestQueryModes(t *testing.T) {
	on(t, []string{"postgres"}, all, func(t *testing.T, s *store) {
		for i, mode := range queryModes {
			db := s.Open(t, s.With("default_query_exec_mode="+mode))
			want := s.first + int64(i)
			if got := assign(t, s.on(db)); got != want {
				t.Errorf("%s: number %d, want %d", mode, got, want)
			}
			if s.name == "leaser" {
				rows, err := s.leaser(db).Leases(context.Background(), 1)
				if err != nil || len(rows) != 1 || rows[0].Number != want || rows[0].Host != node.Host || rows[0].Type != node.Type {
					t.Errorf("%s: Leases = %+v, %v", mode, rows, err)
				}
				continue
			}
			rows, err := s.registry(db).Nodes(context.Background(), 1)
			if err != nil || len(rows) != 1 || rows[0].ID != want || rows[0].HostName != node.Host || rows[0].Type != node.Type {
				t.Errorf("%s: Nodes = %+v, %v", mode, rows, err)
			}
		}
	})
}

// The store passes all that a store has to, however statements are sent.
func TestStoreInQueryModes(t *testing.T) {
	for _, mode := range queryModes[1:] {
		t.Run(mode, func(t *testing.T) {
			on(t, []string{"postgres"}, leasers, func(t *testing.T, s *store) {
				suite(s, s.With("default_query_exec_mode="+mode)).Run(t)
			})
		})
	}
}

// The store passes all that a store has to.
func TestStore(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) { suite(s, s.URL).Run(t) })
}

// suite is the conformance suite over tables of the database at url.
func suite(s *store, url string) leasetest.Suite {
	return leasetest.Suite{Open: func(t *testing.T) leasetest.Opener {
		own := s.Another(t)
		return func(t *testing.T) lease.Store {
			db := own.Open(t, url)
			st := worker.NewStore(db, worker.StoreConfig{Table: own.Table})
			if err := st.EnsureSchema(context.Background()); err != nil {
				t.Fatal(err)
			}
			return st
		}
	}}
}
