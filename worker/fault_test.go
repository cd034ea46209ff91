package worker_test

import (
	"context"
	"errors"
	"fmt"
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

// createLike makes the table of a Registry by hand, with the given words for the key.
func (s *store) createLike(t *testing.T, key string) {
	t.Helper()
	s.Exec(t, `CREATE TABLE %s (ID %s, HOST_NAME VARCHAR(64) NOT NULL, PORT VARCHAR(64) NOT NULL, TYPE INT NOT NULL,
		LAUNCH_DATE DATE NOT NULL, MODIFIED TIMESTAMP NOT NULL, CREATED TIMESTAMP NOT NULL)`, s.Table, key)
}

// A number above the layout's largest, however far, is an error that names both, and not
// folded back to a number that others have. It leaves no row.
func TestExhausted(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		a := s.on(s.DB, quiet)
		refused := func(limit, next, held int64) {
			t.Helper()
			rows := s.numbers(t)
			_, err := take(t, t.Context(), a, limit)
			need.Error(t, err, lease.ErrExhausted, fmt.Sprint(next), fmt.Sprint(limit), s.Table)
			want := lease.ExhaustedError{Next: next, Max: limit, Held: held, Store: s.Table}
			if got, _ := errors.AsType[*lease.ExhaustedError](err); got == nil || *got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
			wantNumbers(t, s, rows...)
		}
		s.create(t)
		counter, held := s.as(registry), int64(2)
		if s.name == "registry" {
			held = 0 // it does not know
			refused(0, 1, held)
			counter.setNext(t, 1)
		}
		for want := int64(1); want <= 2; want++ {
			if number, err := take(t, t.Context(), a, 2); number != want || err != nil {
				t.Fatalf("%d, %v; want %d", number, err, want)
			}
		}
		refused(2, 3, held)
		counter.setNext(t, 4194307)
		refused(max22, 4194307, held)
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

// A commit that the server confirms and loses gives a Registry no number.
func TestCommitIsLost(t *testing.T) {
	on(t, servers, registries, func(t *testing.T, s *store) {
		s.create(t)
		db, pool := s.Pooled(t)
		pool.Set(dbtest.Faults{Commit: func(tx *dbtest.Tx) error { return tx.Tx.Rollback() }})
		if number, err := s.registry(db).Assign(t.Context(), max22); number != 0 || !errors.Is(err, worker.ErrKey) {
			t.Errorf("%d, %v; want ErrKey", number, err)
		}
		wantNumbers(t, s)
	})
}
