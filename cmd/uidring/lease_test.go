package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/database"
	"github.com/uidring/uidring/worker"
)

// execute changes a database behind the command's back.
func execute(t *testing.T, dsn, statement string, args ...any) {
	t.Helper()
	db, err := database.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close(db)
	if err := db.Exec(statement, args...).Error; err != nil {
		t.Fatal(err)
	}
}

// rest waits until the time is over that was reserved for the last holder of a
// number, so that it is the first to be taken.
func rest(t *testing.T, dsn string) {
	t.Helper()
	for _, row := range workersOf(t, dsn).Leases {
		time.Sleep(time.Until(row.ReservedUntil) + 2*time.Millisecond)
	}
}

// One after the other, starts have one number, and no id twice.
func TestLeaseTwice(t *testing.T) {
	elsewhere(t)
	leaseTwice(t, dsnDefault)
}

func leaseTwice(t *testing.T, dsn string) {
	a := allocator(t, swift)
	var all []int64
	for _, more := range [][]string{{}, {"--generator", "default"}, {"--json"}, {"-n", "10000", "--max-borrow", "0"}} {
		args := append([]string{"gen", "-n", "5", "--worker", "lease", "--layout", swift, "--dsn", dsn}, more...)
		out := succeed(t, args...)
		if slices.Contains(more, "--json") {
			var ids strings.Builder
			for line := range strings.Lines(out) {
				_, id, _ := strings.Cut(line, `"id":"`)
				id, _, _ = strings.Cut(id, `"`)
				ids.WriteString(id + "\n")
			}
			out = ids.String()
		}
		ids := readIDs(t, out)
		for _, id := range ids {
			if parts, err := a.Parse(id); err != nil || parts.Worker != 0 {
				t.Fatalf("%q: %d: %+v, %v; want worker 0", args, id, parts, err)
			}
		}
		all = append(all, ids...)
		if rows := workersOf(t, dsn).Leases; len(rows) != 1 || rows[0].State != worker.Free {
			t.Fatalf("%q left %+v, want a free number", args, rows)
		}
		rest(t, dsn)
	}
	if len(all) != 10015 || !slices.IsSorted(all) || len(slices.Compact(all)) != 10015 {
		t.Errorf("%d ids, want 10015 that ascend", len(all))
	}
}

// A number is not taken for what cannot be done, nor for no ids.
func TestLeaseNone(t *testing.T) {
	elsewhere(t)
	succeed(t, "gen", "--worker", "lease", "-n", "0")
	if got := invoke(t, "", "workers"); got.code != 1 || !strings.Contains(got.stderr, "no such file") {
		t.Errorf("%+v, want no file", got)
	}
	succeed(t, "gen", "--worker", "lease")
	invoke(t, "", "gen", "--worker", "lease", "--layout", "baidu")
	if rows := workersOf(t, dsnDefault).Leases; len(rows) != 1 {
		t.Errorf("%+v, want one row", rows)
	}
}

// Two tables that number workers from the start may have one number at one time.
func TestLeaseMixed(t *testing.T) {
	elsewhere(t)
	succeed(t, "gen", "--worker", "lease")
	for _, tt := range []struct{ source, other string }{
		{"registry", worker.DefaultLeaseTable},
		{"lease", worker.DefaultTable},
	} {
		got := invoke(t, "", "gen", "--worker", tt.source)
		if got.code != 0 || strings.Count(got.stderr, "level=WARN") != 1 || !strings.Contains(got.stderr, `"ids may repeat: `+tt.other+" of this") {
			t.Errorf("%s: %+v; want a warning about %s", tt.source, got, tt.other)
		}
		readIDs(t, got.stdout)
	}
}

// flight is gen at work. Its ids are read and checked as they come.
type flight struct {
	t      *testing.T
	cancel func()
	code   chan int
	stderr safeBuffer
	bits   bits.Allocator
	last   atomic.Int64 // id; 0 is none
}

// safeBuffer may be read while it is written.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// coarse has so few ids a tick that a stream without a limit to borrowing uses up
// any reservation at once.
const coarse = "40/10/2"

// takeOff starts gen with a leased number.
func takeOff(t *testing.T, layout string, more ...string) *flight {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	f := &flight{t: t, cancel: cancel, code: make(chan int, 1), bits: allocator(t, layout)}
	reader, pipe := io.Pipe()
	go func() {
		defer pipe.Close()
		f.code <- run(ctx, append([]string{"gen", "-n", "1000000000000", "--worker", "lease", "--layout", layout}, more...), nil, pipe, &f.stderr)
	}()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for lines := bufio.NewScanner(reader); lines.Scan(); {
			id := readIDs(t, lines.Text()+"\n")[0]
			if before := f.last.Swap(id); id <= before {
				t.Errorf("id %d after %d", id, before)
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return f
}

// await waits until something has happened.
func (f *flight) await(what string, happened func() bool) {
	f.t.Helper()
	for deadline := time.Now().Add(time.Minute); !happened(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Fatalf("%s did not happen; last id %d, standard error %q", what, f.last.Load(), &f.stderr)
		}
	}
}

func (f *flight) worker() int64 {
	id := f.last.Load()
	parts, err := f.bits.Parse(id)
	if err != nil {
		f.t.Error(err)
	}
	return parts.Worker
}

// more waits for an id after those that there are.
func (f *flight) more() {
	f.t.Helper()
	before := f.last.Load()
	f.await("an id", func() bool { return f.last.Load() > before })
}

// land ends gen and returns its exit code and standard error.
func (f *flight) land() (int, string) {
	f.cancel()
	return <-f.code, f.stderr.String()
}

// With --force, a holder at work loses its number, and goes on under another.
func TestReleaseForced(t *testing.T) {
	elsewhere(t)
	f := takeOff(t, coarse, "--max-borrow", "-1s")
	f.more()
	if got := invoke(t, "", "workers", "release", "0"); got.code != 1 || got.stdout != "" ||
		!strings.Contains(got.stderr, "number 0 is held") || !strings.Contains(got.stderr, "--force") {
		t.Errorf("%+v, want it refused", got)
	}
	f.more()
	if number := f.worker(); number != 0 {
		t.Errorf("worker %d, want 0 after a release that was refused", number)
	}
	if got := succeed(t, "workers", "release", "0", "--force"); got != "number 0 is free\n" {
		t.Errorf("%q", got)
	}
	f.await("a change of number", func() bool { return f.worker() == 1 })
	f.more()
	code, stderr := f.land()
	if code != 1 || !strings.Contains(stderr, "the number is lost") || strings.Contains(stderr, "waiting:") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	for _, row := range workersOf(t, dsnDefault).Leases {
		if row.State != worker.Free {
			t.Errorf("%+v, want it free", row)
		}
	}
}

// While the database is away, a stream waits and says so once, and then goes on.
func TestLeaseWaits(t *testing.T) {
	elsewhere(t)
	f := takeOff(t, coarse, "--max-borrow", "-1s")
	f.more()
	execute(t, dsnDefault, "ALTER TABLE WORKER_LEASE RENAME TO AWAY")
	f.await("a word", func() bool { return strings.Contains(f.stderr.String(), "waiting:") })
	execute(t, dsnDefault, "ALTER TABLE AWAY RENAME TO WORKER_LEASE")
	f.more()
	code, stderr := f.land()
	if code != 1 || strings.Count(stderr, "waiting:") != 1 || !strings.Contains(stderr, "until") || !strings.HasSuffix(stderr, "uidring: context canceled\n") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}

// A stream that the default generator cannot begin yet waits, too.
func TestLeaseWaitsToBegin(t *testing.T) {
	elsewhere(t)
	const single = "31/0/9" // one number
	succeed(t, "gen", "--worker", "lease", "--layout", single)
	execute(t, dsnDefault, "UPDATE WORKER_LEASE SET reserved_until = reserved_until + 86400000 WHERE worker_id = 0")
	f := takeOff(t, single, "--generator", "default")
	f.await("a word", func() bool { return strings.Contains(f.stderr.String(), "waiting:") })
	if code, stderr := f.land(); code != 1 || strings.Count(stderr, "\n") != 2 || f.last.Load() != 0 {
		t.Errorf("exit code %d, %q, id %d; want no more than a warning and the end", code, stderr, f.last.Load())
	}
}

// spoiler is standard output that spoils something when it is written to.
type spoiler struct {
	bytes.Buffer
	spoil func() error
}

func (s *spoiler) Write(p []byte) (int, error) {
	n, _ := s.Buffer.Write(p)
	return n, s.spoil()
}

// A number that cannot be given back is told, and its ids are good.
func TestLeaseNotGivenBack(t *testing.T) {
	for name, result := range map[string]error{"all ids": nil, "no reader": syscall.EPIPE} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // giving up takes seconds
			dsn := filepath.Join(t.TempDir(), dsnDefault)
			stdout := &spoiler{spoil: func() error {
				execute(t, dsn, "ALTER TABLE WORKER_LEASE RENAME TO AWAY")
				return result
			}}
			var stderr bytes.Buffer
			code := run(t.Context(), []string{"gen", "-n", "5", "--worker", "lease", "--dsn", dsn}, nil, stdout, &stderr)
			if ids := readIDs(t, stdout.String()); code != 1 || len(ids) != 5 {
				t.Errorf("exit code %d, ids %v; want 1 and five", code, ids)
			}
			if got := stderr.String(); !strings.HasPrefix(got, "uidring: the ids are good, but their number was not given back") || strings.Count(got, "\n") != 1 {
				t.Errorf("%q", got)
			}
		})
	}
}
