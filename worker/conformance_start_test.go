package worker_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/worker"
)

// Each start gets a number of its own, from this handle or the next process's.
func TestDistribute(t *testing.T) {
	each(t, all, func(t *testing.T, s *store) {
		a := s.on(s.DB)
		for i := range int64(3) {
			if got := assign(t, a); got != s.first+i {
				t.Errorf("number %d, want %d", got, s.first+i)
			}
		}
		if got := assign(t, s.on(s.Open(t, s.URL))); got != s.first+3 {
			t.Errorf("the next process got %d, want %d", got, s.first+3)
		}
		wantNumbers(t, s, s.first, s.first+1, s.first+2, s.first+3)
	})
}

// Many starters with handles of their own meet a missing table. There are as many
// numbers as it takes, and no more.
func TestStartersAtOnce(t *testing.T) {
	each(t, all, func(t *testing.T, s *store) {
		const handles, starts = 4, 5
		numbers := make([]int64, handles*starts)
		begin := make(chan struct{})
		var group errgroup.Group
		for h := range handles {
			db := s.Open(t, s.URL)
			for i := range starts {
				group.Go(func() (err error) {
					<-begin
					numbers[h*starts+i], err = take(t, context.Background(), s.on(db, logTo(slog.New(slog.DiscardHandler))), s.first+handles*starts-1)
					return err
				})
			}
		}
		close(begin)
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		slices.Sort(numbers)
		wantNumbers(t, s, numbers...)
		if len(slices.Compact(numbers)) != handles*starts {
			t.Errorf("numbers repeat: %v", numbers)
		}
	})
}

func TestCancelled(t *testing.T) {
	each(t, all, func(t *testing.T, s *store) {
		s.create(t)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		a := s.on(s.DB)
		if number, err := take(t, ctx, a, max22); number != 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("%d, %v", number, err)
		}
		if err := a.EnsureSchema(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("EnsureSchema = %v", err)
		}
		if _, err := s.registry(s.DB).Nodes(ctx, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("Nodes = %v", err)
		}
		if _, err := s.leaser(s.DB).Leases(ctx, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("Leases = %v", err)
		}
		if err := s.leaser(s.DB).Free(ctx, 1, true); !errors.Is(err, context.Canceled) {
			t.Errorf("Free = %v", err)
		}
		wantNumbers(t, s)
	})
}

// A start that hangs on a lock ends with its context.
// SQLite's drivers wait for it to the end of the busy timeout instead.
func TestCancelledWhileWaiting(t *testing.T) {
	on(t, []string{"mysql", "postgres"}, all, func(t *testing.T, s *store) {
		s.create(t)
		unlock := s.lock(t)
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		number, err := take(t, ctx, s.on(s.DB, worker.StoreConfig{NoSchema: true}), max22)
		if number != 0 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%d, %v", number, err)
		}
		unlock()
		wantNumbers(t, s)
	})
}

// A starter saw that no number was ever given. Meanwhile one was given and its
// row deleted: the starter takes the next.
func TestOvertaken(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		s.create(t)
		db, pool := s.Pooled(t)
		var overtaken bool
		pool.Set(dbtest.Faults{Commit: func(tx *dbtest.Tx) error {
			err := tx.Tx.Commit()
			if !overtaken && len(tx.Queries) == 2 { // it has looked
				overtaken = true
				assign(t, s.leaser(s.DB))
				s.Exec(t, "DELETE FROM %s WHERE worker_id = 0", s.Table)
			}
			return err
		}})
		number, err := take(t, context.Background(), s.leaser(db, worker.StoreConfig{NoSchema: true}), max22)
		if number != 1 || err != nil || !overtaken {
			t.Errorf("%d, %v, overtaken %t; want number 1", number, err, overtaken)
		}
	})
}

// A starter makes the row that counts the numbers given. Meanwhile another start made it,
// and its own row was deleted: the starter takes the next number. With the other databases,
// the other start waits.
func TestOvertakenAtTheFirstNumber(t *testing.T) {
	on(t, []string{"postgres"}, leasers, func(t *testing.T, s *store) {
		s.create(t)
		db, pool := s.Pooled(t)
		var overtaken bool
		pool.Set(dbtest.Faults{Statement: func(_ context.Context, query string) error {
			if !overtaken && strings.HasPrefix(query, "INSERT") {
				overtaken = true
				assign(t, s.leaser(s.DB))
				s.Exec(t, "DELETE FROM %s WHERE worker_id = 0", s.Table)
			}
			return nil
		}})
		number, err := take(t, context.Background(), s.leaser(db, worker.StoreConfig{NoSchema: true}), max22)
		if number != 1 || err != nil || !overtaken {
			t.Errorf("%d, %v, overtaken %t; want number 1", number, err, overtaken)
		}
	})
}

// lock keeps everybody else from the table, until the function that it returns is
// called.
func (s *store) lock(t *testing.T) (unlock func()) {
	t.Helper()
	pool, err := s.DB.DB()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pool.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	statements := map[string][2]string{
		"mysql":    {"LOCK TABLES " + s.Table + " WRITE", "UNLOCK TABLES"},
		"postgres": {"BEGIN; LOCK TABLE " + s.Table + " IN ACCESS EXCLUSIVE MODE", "ROLLBACK"},
	}[s.Kind]
	execute := func(statement string) {
		if _, err := conn.ExecContext(context.Background(), statement); err != nil {
			t.Error(err)
		}
	}
	execute(statements[0])
	return func() { execute(statements[1]) }
}

func TestDatabaseUnavailableAtStart(t *testing.T) {
	s := newSQLite(t)
	gone := s.Open(t, s.URL)
	if err := dbtest.Close(gone); err != nil {
		t.Fatal(err)
	}
	config := gorm.Config{DisableAutomaticPing: true, Logger: logger.Discard}
	doing := map[string]string{"registry": "worker: register in ", "attested": "worker: register in ", "leaser": "lease: take a number from "}
	for name, db := range map[string]*gorm.DB{
		"closed handle": gone,
		"mysql": must(t)(gorm.Open(mysql.New(mysql.Config{
			Conn: pool(t, "mysql", "root@tcp(127.0.0.1:1)/test"), SkipInitializeWithVersion: true}), &config)),
		"postgres": must(t)(gorm.Open(postgres.New(postgres.Config{
			Conn: pool(t, "pgx", "postgres://postgres@127.0.0.1:1/test")}), &config)),
	} {
		for _, a := range all {
			t.Run(name+"/"+a.name, func(t *testing.T) {
				s := &store{s.Store, a}
				number, err := take(t, context.Background(), s.on(db, worker.StoreConfig{NoSchema: true}), max22)
				if number != 0 || err == nil || !strings.HasPrefix(err.Error(), doing[a.name]+s.Table+": ") ||
					errors.Unwrap(err) == nil {
					t.Errorf("%d, %v", number, err)
				}
				number, err = take(t, context.Background(), s.on(db), max22)
				if number != 0 || err == nil || !strings.HasPrefix(err.Error(), "worker: look for "+s.Table+": ") {
					t.Errorf("with schema: %d, %v", number, err)
				}
			})
		}
	}
}

func pool(t *testing.T, driver, dsn string) *sql.DB {
	t.Helper()
	p, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}
