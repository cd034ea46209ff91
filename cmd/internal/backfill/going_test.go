//go:build linux

package backfill_test

import (
	"bytes"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker"
)

const fine = "40/16/6,epoch=2026-01-01,unit=1ms" // whose ticks pass quickly

// filled returns how many rows have an id.
func (s *shop) filled(t testing.TB) int64 {
	t.Helper()
	return s.number(t, "SELECT COUNT(uid) FROM orders")
}

// A process that is interrupted or killed leaves what it has done, and the same command continues.
func TestEnds(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		s.start(t, fine)
		s.insert(t, 600, time.Minute)
		for _, tt := range []struct {
			signal syscall.Signal
			code   int
		}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}, {syscall.SIGKILL, -1}} {
			cmd, stderr := clitest.Process(t, s.args("--batch", "10", "--pause", "20ms")...), new(bytes.Buffer)
			cmd.Stderr = stderr
			before := s.filled(t)
			need.Must(t, cmd.Start())
			servertest.Eventually(t, "some rows have an id", func() bool { return s.filled(t) > before })
			need.Must(t, cmd.Process.Signal(tt.signal))
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != tt.code || tt.code > 0 && !strings.Contains(stderr.String(), "rows of orders have got their ids; the same command continues") {
				t.Errorf("%v: exit code %d, %s", tt.signal, code, stderr)
			}
		}
		if n := s.filled(t); n == 600 {
			t.Fatal("it was done before it was killed")
		}
		uidring.Succeed(t, s.args()...)
		s.ages(t, fine, 0)
	})
}

// Rows that come meanwhile without an id get one, and a row that the service gives an id keeps it.
func TestMeanwhile(t *testing.T) {
	each(t, func(t *testing.T, s *shop) {
		s.start(t, fine)
		s.insert(t, 300, time.Minute)
		got := s.run(t, "--batch", "10", "--pause", "20ms")
		need.Must(t, s.Exec("UPDATE orders SET uid = 7 WHERE id = 300 AND uid IS NULL").Error)
		for _, at := range []time.Time{s.oldest, time.Now()} {
			need.Must(t, s.Exec("INSERT INTO orders (created_at, changed) VALUES (?, ?)", at, s.oldest).Error)
		}
		got.succeeds(t, "")
		if n, id := s.number(t, "SELECT COUNT(*) FROM orders WHERE uid IS NULL"), s.number(t, "SELECT uid FROM orders WHERE id = 300"); n != 0 || id != 7 {
			t.Errorf("%d rows have no id, and that of the service is %d, want 7", n, id)
		}
	})
	t.Run("always", func(t *testing.T) {
		s := newShop(t, "sqlite")
		s.start(t, fine)
		s.insert(t, 3, time.Minute)
		need.Must(t, s.Exec("CREATE TRIGGER more AFTER UPDATE OF uid ON orders BEGIN INSERT INTO orders (created_at) VALUES (STRFTIME('%Y-%m-%d %H:%M:%f', 'now')); END").Error)
		uidring.Fail(t, 1, "rows without uid keep coming: first deploy the service that writes it", s.args()...)
	})
}

// No more rows than --rate says are written, but for one batch.
func TestRate(t *testing.T) {
	s := newShop(t, "sqlite")
	s.start(t, fine)
	s.insert(t, 100, time.Minute)
	for _, flags := range [][]string{{"--rate", "200", "--batch", "20"}, {"--pause", "100ms", "--batch", "25"}} {
		need.Must(t, s.Exec("UPDATE orders SET uid = NULL").Error)
		began := time.Now()
		uidring.Succeed(t, s.args(flags...)...)
		if took := time.Since(began); took < 400*time.Millisecond {
			t.Errorf("%q: 100 rows took %v", flags, took)
		}
	}
}

// The database goes away, and comes back; the command waits, says so, and goes on.
func TestLostConnection(t *testing.T) {
	for _, kind := range []string{"mysql", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			s := newShop(t, kind)
			link := servertest.NewLink(t, func() string { return s.owner.Host })
			through := *s.owner
			through.Host = link.Address()
			s.dsn = through.String()
			s.interrupt(t, link.Cut, func() { need.Must(t, link.Mend()) })
		})
	}
}

// A server is demoted and another one promoted, to which the connections that are there do not lead.
func TestFailover(t *testing.T) {
	need.CI(t)
	for _, kind := range []string{"mysql", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			f := dbtest.NewFailover(t, kind, func(db *gorm.DB) error {
				for statement := range strings.SplitSeq(ddl[kind], "; ") {
					need.Must(t, db.Exec(statement).Error)
				}
				return worker.NewStore(db, worker.StoreConfig{}).EnsureSchema(t.Context())
			})
			s := &shop{DB: f.Open(t, f.URL), kind: kind, dsn: f.URL, oldest: time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)}
			s.interrupt(t, func() { f.Demote(t, "WORKER_NODE", "WORKER_LEASE", "orders") }, func() { f.Promote(); f.Drop() })
		})
	}
}

// interrupt tests that the command waits between the end and the return of its database.
func (s *shop) interrupt(t *testing.T, end, back func()) {
	t.Helper()
	s.start(t, fine)
	s.insert(t, 500, time.Minute)
	got := s.run(t, "--batch", "10", "--pause", "10ms")
	end()
	servertest.Eventually(t, "the command says so", func() bool { return strings.Contains(got.stderr.String(), "the next attempt is in") })
	back()
	got.succeeds(t, "of all 500 rows")
	s.ages(t, fine, 0)
}

// running is the command while it runs.
type running struct {
	code           int
	stdout, stderr logged.Text
	ended          sync.WaitGroup
}

// run runs the command beside the test, and returns when it has written some ids.
func (s *shop) run(t *testing.T, more ...string) *running {
	t.Helper()
	r := new(running)
	r.ended.Go(func() {
		r.code = uidring.Run(t.Context(), strings.NewReader(""), &r.stdout, &r.stderr, s.args(more...)...)
	})
	t.Cleanup(r.ended.Wait)
	servertest.Eventually(t, "some rows have an id", func() bool { return s.filled(t) > 0 })
	return r
}

func (r *running) succeeds(t *testing.T, want string) {
	t.Helper()
	if r.ended.Wait(); r.code != 0 || !strings.Contains(r.stdout.String(), want) {
		t.Errorf("exit code %d, %s%s", r.code, &r.stdout, &r.stderr)
	}
}
