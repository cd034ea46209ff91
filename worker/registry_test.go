package worker_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

func TestAssignDetectsNode(t *testing.T) {
	t.Setenv("JPAAS_HOST", "box")
	t.Setenv("JPAAS_HTTP_PORT", "31080")
	s := newSQLite(t)
	r := worker.NewRegistry(s.DB, worker.RegistryConfig{})
	assign(t, r)
	rows, err := r.Nodes(context.Background(), 0)
	need.Must(t, err)
	if len(rows) != 1 || rows[0].HostName != "box" || rows[0].Port != "31080" || rows[0].Type != lease.NodeContainer {
		t.Errorf("rows %+v", rows)
	}
}

func TestAssignRow(t *testing.T) {
	each(t, registries, func(t *testing.T, s *store) {
		db := s.elsewhere(t)
		ctx := context.Background()
		container := lease.Node{Host: "pod-ä-1", Port: "80", Type: lease.NodeContainer}
		before := time.Now().Truncate(time.Second)
		assign(t, s.registry(db))
		assign(t, s.registry(db, lease.Config{Node: container}))
		after := time.Now()

		for _, limit := range []int{0, 1, 2, 9} {
			rows, err := s.registry(db).Nodes(ctx, limit)
			need.Must(t, err)
			if want := []int{2, 1, 2, 2}[slices.Index([]int{0, 1, 2, 9}, limit)]; len(rows) != want {
				t.Fatalf("Nodes(%d): %d rows, want %d", limit, len(rows), want)
			}
			for i, row := range rows {
				if want := []lease.Node{container, node}[i]; row.ID != int64(2-i) ||
					(lease.Node{Host: row.HostName, Port: row.Port, Type: row.Type}) != want {
					t.Errorf("row %+v, want %d %+v", row, 2-i, want)
				}
				for _, at := range []time.Time{row.Created, row.Modified} {
					if at.Before(before) || at.After(after) {
						t.Errorf("row %+v: %v is not in %v..%v", row, at, before, after)
					}
				}
				if day := row.LaunchDate; day != day.Truncate(24*time.Hour) || row.Created.Sub(day).Abs() > 48*time.Hour {
					t.Errorf("row %+v: launched on %v", row, day)
				}
			}
		}
	})
}
