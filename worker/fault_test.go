package worker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// The tests of this file hold faults that were seen in uid-generator and its
// forks, all of them about keys that the database counts.

// setNext makes n the next key.
func (s *store) setNext(t *testing.T, n int64) {
	t.Helper()
	switch s.Kind {
	case "mysql":
		s.Exec(t, "ALTER TABLE %s AUTO_INCREMENT = %d", s.Table, n)
	case "postgres":
		s.Exec(t, "ALTER TABLE %s ALTER COLUMN id RESTART WITH %d", s.Table, n)
	case "sqlite":
		s.Exec(t, "DELETE FROM sqlite_sequence WHERE name = '%s'", s.Table)
		s.Exec(t, "INSERT INTO sqlite_sequence (name, seq) VALUES ('%s', %d)", s.Table, n-1)
	}
}

// createLike makes the table by hand, with the given words for the key.
func (s *store) createLike(t *testing.T, key string) {
	t.Helper()
	columns := `HOST_NAME VARCHAR(64) NOT NULL, PORT VARCHAR(64) NOT NULL, TYPE INT NOT NULL,
		LAUNCH_DATE DATE NOT NULL, MODIFIED TIMESTAMP NOT NULL, CREATED TIMESTAMP NOT NULL`
	if s.name == "leaser" {
		columns = `token VARCHAR(64) NOT NULL, reserved_until BIGINT NOT NULL, heartbeat_at BIGINT NOT NULL,
			host VARCHAR(64) NOT NULL, port VARCHAR(64) NOT NULL, type INT NOT NULL, created BIGINT NOT NULL`
	}
	s.Exec(t, "CREATE TABLE %s (%s %s, %s)", s.Table, strings.ToUpper(s.key), key, columns)
}

// A number above the layout's largest, however far, is an error that names both, and not
// folded back to a number that others have. It leaves no row.
func TestExhausted(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		a := s.on(s.DB, quiet)
		refused := func(limit, next, held int64) {
			t.Helper()
			rows := s.numbers(t)
			number, err := take(t, context.Background(), a, limit)
			var exhausted *lease.ExhaustedError
			if number != 0 || !errors.Is(err, lease.ErrExhausted) || !errors.As(err, &exhausted) {
				t.Fatalf("%d, %v; want ErrExhausted", number, err)
			}
			if want := (lease.ExhaustedError{Next: next, Max: limit, Held: held, Store: s.Table}); *exhausted != want {
				t.Errorf("%+v, want %+v", *exhausted, want)
			}
			wantAll(t, err, fmt.Sprint(next), fmt.Sprint(limit), s.Table)
			wantNumbers(t, s, rows...)
		}
		s.create(t)
		if s.name == "registry" {
			refused(0, 1, 0)
			s.setNext(t, 1)
		}
		limit := first + 1
		for want := first; want <= limit; want++ {
			if number, err := take(t, context.Background(), a, limit); number != want || err != nil {
				t.Fatalf("%d, %v; want %d", number, err, want)
			}
		}
		if s.name == "leaser" {
			refused(limit, limit+1, 2)
			s.as(registry).setNext(t, 4194307)
			refused(max22, 4194307, 2)
			return
		}
		refused(limit, limit+1, 0)
		s.setNext(t, 4194307)
		refused(max22, 4194307, 0)
	})
}

// Keys that the database does not count were 0 for every node, and -1 was accepted as a worker number. Some of MySQL's
// servers know no RETURNING, where the key is the connection's last insert id.
func TestKeyIsNoNumber(t *testing.T) {
	for name, key := range map[string]string{
		"zero":     "BIGINT NOT NULL DEFAULT 0 PRIMARY KEY",
		"negative": "BIGINT NOT NULL DEFAULT -1 PRIMARY KEY",
		"no key":   "BIGINT NULL",
	} {
		t.Run(name, func(t *testing.T) {
			each(t, registries, func(t *testing.T, s *store) {
				s.createLike(t, key)
				handles := []*gorm.DB{s.DB}
				if s.Kind == "mysql" && name == "zero" {
					handles = append(handles, s.Reopen(t, func(gorm.Dialector) gorm.Dialector {
						return mysql.New(mysql.Config{Conn: s.DB.ConnPool, DisableWithReturning: true})
					}, gorm.Config{}))
				}
				for _, db := range handles {
					number, err := s.registry(db).Assign(context.Background(), max22)
					if number != 0 || !errors.Is(err, worker.ErrKey) {
						t.Errorf("Assign = %d, %v; want ErrKey", number, err)
					}
					wantNumbers(t, s)
				}
			})
		})
	}
}

func TestWarnsFrom80Percent(t *testing.T) {
	each(t, registries, func(t *testing.T, s *store) {
		s.create(t)
		var out logged.Text
		r := s.registry(s.Open(t, s.Plain()), logTo(out.Logger()))
		for _, want := range []int64{79, 80, 100} {
			warned := want >= 80
			s.setNext(t, want)
			out.Reset()
			if number, err := r.Assign(context.Background(), 100); number != want || err != nil {
				t.Fatalf("Assign = %d, %v", number, err)
			}
			if got := out.Count("level=WARN"); (got == 1) != warned || got > 1 {
				t.Errorf("number %d: warned %t, want %t: %s", want, got == 1, warned, &out)
			}
			if want == 80 && out.Count("number=80", "max=100", "left=20", "table="+s.Table) != 1 {
				t.Errorf("logged %s", &out)
			}
		}
	})
}

func TestWarnsOfClock(t *testing.T) {
	each(t, registries, func(t *testing.T, s *store) {
		for _, tt := range []struct {
			ahead  time.Duration
			warned bool
		}{
			{0, false}, {50 * time.Second, false}, {-50 * time.Second, false},
			{2 * time.Minute, true}, {-2 * time.Minute, true}, {9 * time.Hour, true},
		} {
			var out logged.Text
			r := s.registry(s.DB, logTo(out.Logger()))
			r.SetNow(func() time.Time { return time.Now().Add(tt.ahead) })
			assign(t, r)
			if got := out.Count("local_ahead") > 0; got != tt.warned {
				t.Errorf("clock %v ahead: warned %t, want %t: %s", tt.ahead, got, tt.warned, &out)
			}
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

// A number whose row was deleted is not given again, whether or not it was the
// highest, nor when all are gone that can be.
func TestDeletedNumberNotReused(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		a := s.on(s.DB)
		for range 3 {
			assign(t, a)
		}
		s.Exec(t, "DELETE FROM %s WHERE %s = %d", s.Table, s.key, first+2)
		if got := assign(t, a); got != first+3 {
			t.Errorf("number %d, want %d", got, first+3)
		}
		s.Exec(t, "DELETE FROM %s WHERE %s >= 0", s.Table, s.key)
		if got := assign(t, a); got != first+4 {
			t.Errorf("number %d, want %d", got, first+4)
		}
	})
}

// A commit that was lost or refused gives a Registry no number. Neither does one that the
// server confirms and loses.
func TestRegistryCommit(t *testing.T) {
	for name, tt := range map[string]struct {
		commit func(tx *dbtest.Tx) error
		err    error
		rows   []int64
	}{
		"answer lost": {func(tx *dbtest.Tx) error { return errors.Join(tx.Tx.Commit(), errAnswer) }, errAnswer, []int64{1}},
		"refused":     {func(tx *dbtest.Tx) error { return errors.Join(tx.Tx.Rollback(), errAnswer) }, errAnswer, nil},
		"nothing":     {func(tx *dbtest.Tx) error { return tx.Tx.Rollback() }, worker.ErrKey, nil},
	} {
		t.Run(name, func(t *testing.T) {
			on(t, servers, registries, func(t *testing.T, s *store) {
				s.create(t)
				db, pool := s.Pooled(t)
				pool.Set(dbtest.Faults{Commit: func(tx *dbtest.Tx) error {
					if tx.Wrote("INSERT") {
						return tt.commit(tx)
					}
					return tx.Tx.Commit()
				}})
				if number, err := s.registry(db).Assign(context.Background(), max22); number != 0 || !errors.Is(err, tt.err) {
					t.Errorf("%d, %v; want %v", number, err, tt.err)
				}
				wantNumbers(t, s, tt.rows...)
				wantNumbers(t, s, append(tt.rows, assign(t, s.on(s.DB)))...)
			})
		})
	}
}
