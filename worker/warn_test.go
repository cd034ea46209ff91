package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
)

// Each start warns once of a database that confirms commits before they are on
// the disk, and of no other.
func TestWarnsOfFlush(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		start := func(url string) *logged.Text {
			var out logged.Text
			assign(t, s.on(s.Open(t, url), logTo(out.Logger())))
			return &out
		}
		if out := start(s.Plain()); out.Count("level=WARN") > 0 {
			t.Errorf("logged %s", out)
		}
		var unsafe, setting, value string
		switch s.Kind {
		case "postgres":
			unsafe, setting, value = s.With("synchronous_commit=off"), "synchronous_commit", "off"
		case "sqlite":
			unsafe, setting, value = s.Plain()+"?_journal_mode=wal&_synchronous=1&_pragma=journal_mode(wal)&_pragma=synchronous(1)", "synchronous", `"NORMAL in WAL mode"`
		case "mysql":
			return // a setting of the server, not of a session
		}
		if out := start(unsafe); out.Count("level=WARN", "commits", "setting="+setting, "value="+value) != 1 || out.Count("level=WARN") != 1 {
			t.Errorf("logged %s; want %s", out, setting)
		}
	})
}

// A start that finds the pool of connections full says so.
func TestPoolIsFull(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		a := s.on(s.DB)
		assign(t, a) // which makes the table
		pool, err := s.DB.DB()
		need.Must(t, err)
		pool.SetMaxOpenConns(1)
		tx := s.DB.Begin()
		defer tx.Rollback()
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if number, err := take(t, ctx, s.on(s.DB), max22); !errors.Is(err, context.DeadlineExceeded) ||
			!strings.Contains(err.Error(), "the connection pool is exhausted, 1 of 1 are in use") {
			t.Errorf("got %d, %v, want that the pool is full", number, err)
		}
	})
}
