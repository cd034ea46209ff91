package worker_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/internal/holding"
	"github.com/uidring/uidring/worker/lease"
)

// A table that lost its key could have two rows of a number: a start says what to do, and writes
// nothing. With a unique index in place of the key it goes on.
func TestTableWithoutKey(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		s.create(t)
		s.Exec(t, "CREATE TABLE %s_copy AS SELECT * FROM %[1]s", s.Table)
		s.Exec(t, "DROP TABLE %s", s.Table)
		s.Exec(t, "ALTER TABLE %s_copy RENAME TO %[1]s", s.Table)
		s.Exec(t, "CREATE INDEX %s_worker ON %[1]s (worker_id)", s.Table)
		_, err := try(t, s.leaser(s.DB), max22)
		if !errors.Is(err, worker.ErrKey) {
			t.Fatalf("%v, want ErrKey", err)
		}
		_, statement, _ := strings.Cut(err.Error(), "run: ")
		wantAll(t, err, s.Table, "CREATE UNIQUE INDEX")
		wantNumbers(t, s)
		s.Exec(t, "%s", statement)
		if got := assign(t, s.leaser(s.DB)); got != 0 {
			t.Errorf("number %d, want 0", got)
		}
	})
}

// The first start of a range that overlaps another logs both. An assigned number may lie in a
// range.
func TestOverlappingRanges(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		out := new(logged.Text)
		take := func(c lease.Config) {
			t.Helper()
			c.Logger = out.Logger()
			holding.Take(t, s.leaser(s.DB, c), max22)
		}
		site := func(from, to int64) lease.Config { return lease.Config{Numbers: &lease.Bounds{From: from, To: to}} }
		take(site(100, 199))
		take(site(200, 299))
		take(lease.Config{Assigner: uid.StaticWorker(195)})
		if lines := out.String(); lines != "" {
			t.Fatalf("ranges without a common number: %s", lines)
		}
		take(site(189, 220))
		take(site(189, 220))
		wantAll(t, errors.New(out.String()), `range="189 to 220" other="100 to 199"`, `range="189 to 220" other="200 to 299"`)
		if lines := strings.Count(out.String(), "overlap"); lines != 2 {
			t.Errorf("%d lines, want one for each other range:\n%s", lines, out)
		}
	})
}
