package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// Whoever looks is shown 32 free rows, so that not all who start at once try for the
// same; and rows count as given where the count is gone.
func TestLook(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		s.create(t)
		rows := worker.NewStore(s.DB, worker.StoreConfig{Table: s.Table})
		ctx, within := context.Background(), lease.Bounds{From: 0, To: max22}
		for number := range int64(40) {
			w := lease.Write{Number: number, Token: "a", Until: number, Change: lease.Acquire, Node: node, Within: within, Fresh: true}
			if done, err := rows.Insert(ctx, w); !done || err != nil {
				t.Fatalf("number %d: %t, %v", number, done, err)
			}
		}
		s.Exec(t, "UPDATE %s SET heartbeat_at = 0", s.Table)
		s.Exec(t, "DELETE FROM %s WHERE worker_id = -1", s.Table)
		view, err := rows.Look(ctx, within, time.Minute)
		if err != nil || len(view.Free) != 32 || view.Free[31].Number != 31 || view.Next != 40 || view.Held != 0 {
			t.Errorf("%+v, %v; want the first 32, and 40 to be the next number", view, err)
		}
	})
}

// A clock that was not read is no clock.
func TestClockNotRead(t *testing.T) {
	s := &store{dbtest.New(t, "sqlite"), leaser}
	s.create(t)
	stop := func(tx *gorm.DB) {
		now := "CAST((JULIANDAY('now') - 2440587.5) * 86400000 AS INTEGER)"
		sql := strings.ReplaceAll(tx.Statement.SQL.String(), now+" AS clock", "0 AS clock")
		tx.Statement.SQL.Reset()
		tx.Statement.SQL.WriteString(sql)
	}
	db := s.Reopen(t, nil, gorm.Config{})
	if err := errors.Join(
		db.Callback().Query().Before("gorm:query").Register("test:stop", stop),
		db.Callback().Row().Before("gorm:row").Register("test:stop", stop),
	); err != nil {
		t.Fatal(err)
	}
	rows := worker.NewStore(db, worker.StoreConfig{Table: s.Table})
	_, look := rows.Look(context.Background(), lease.Bounds{To: max22}, time.Minute)
	_, _, read := rows.Read(context.Background(), 0, time.Minute)
	for name, err := range map[string]error{"Look": look, "Read": read} {
		if err == nil || !strings.Contains(err.Error(), "clock was not read") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
