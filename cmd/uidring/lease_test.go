package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/worker/lease"
)

// execute changes a database behind the command's back.
func execute(t *testing.T, dsn, statement string, args ...any) {
	t.Helper()
	db := clitest.Open(t, dsn)
	if err := db.Exec(statement, args...).Error; err != nil {
		t.Fatal(err)
	}
}

// When all numbers are held, no file is left open and the error says so.
func TestLeaseExhausted(t *testing.T) {
	clitest.Elsewhere(t)
	const single = "31/0/9" // one number
	takeOff(t, single).more()
	got := uidring.Invoke(t, "", "gen", "--worker", "lease", "--layout", single)
	if got.Code != 1 || !strings.Contains(got.Stderr, "uidring.db\" (the default): ") || !strings.Contains(got.Stderr, "exhausted") || strings.Count(got.Stderr, "\n") != 1 {
		t.Errorf("%+v", got)
	}
}

// flight is gen at work. Its ids are read and checked as they come.
type flight struct {
	t      *testing.T
	cancel func()
	code   chan int
	stderr logged.Text
	bits   *bits.Allocator
	last   atomic.Int64 // id; 0 is none
}

// coarse has so few ids a tick that a stream without a limit to borrowing uses up
// any reservation at once.
const coarse = "40/10/2"

// takeOff starts gen with a leased number.
func takeOff(t *testing.T, layout string, more ...string) *flight {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	f := &flight{t: t, cancel: cancel, code: make(chan int, 1), bits: clitest.Allocator(t, layout)}
	reader, pipe := io.Pipe()
	go func() {
		defer pipe.Close()
		f.code <- uidring.Run(ctx, nil, pipe, &f.stderr, append([]string{"gen", "-n", "1000000000000", "--worker", "lease", "--layout", layout}, more...)...)
	}()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for lines := bufio.NewScanner(reader); lines.Scan(); {
			id := clitest.ReadIDs(t, lines.Text()+"\n")[0]
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
	clitest.Elsewhere(t)
	f := takeOff(t, coarse, "--max-borrow", "-1s")
	f.more()
	if got := uidring.Invoke(t, "", "workers", "release", "0"); got.Code != 1 || got.Stdout != "" ||
		!strings.Contains(got.Stderr, "number 0 is held") || !strings.Contains(got.Stderr, "--force") {
		t.Errorf("%+v, want it refused", got)
	}
	f.more()
	if number := f.worker(); number != 0 {
		t.Errorf("worker %d, want 0 after a release that was refused", number)
	}
	if got := uidring.Succeed(t, "workers", "release", "0", "--force"); got != "number 0 is free\n" {
		t.Errorf("%q", got)
	}
	f.await("a change of number", func() bool { return f.worker() == 1 })
	f.more()
	code, stderr := f.land()
	if code != 1 || !strings.Contains(stderr, "the number is lost") || strings.Contains(stderr, "waiting:") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	for _, row := range uidring.Workers(t, database.Default).Leases {
		if row.State != lease.StateFree {
			t.Errorf("%+v, want it free", row)
		}
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

// gen reports a number that cannot be given back; its ids are valid.
func TestLeaseNotGivenBack(t *testing.T) {
	for name, result := range map[string]error{"all ids": nil, "no reader": syscall.EPIPE} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // giving up takes seconds
			dsn := filepath.Join(t.TempDir(), database.Default)
			stdout := &spoiler{spoil: func() error {
				execute(t, dsn, "ALTER TABLE WORKER_LEASE RENAME TO UNAVAILABLE")
				return result
			}}
			var stderr bytes.Buffer
			code := uidring.Run(t.Context(), nil, stdout, &stderr, []string{"gen", "-n", "5", "--worker", "lease", "--dsn", dsn}...)
			if ids := clitest.ReadIDs(t, stdout.String()); code != 1 || len(ids) != 5 {
				t.Errorf("exit code %d, ids %v; want 1 and five", code, ids)
			}
			if got := clitest.WithoutCreated(stderr.String()); !strings.HasPrefix(got, "uidring: the ids are good, but their worker number was not given back") || strings.Count(got, "\n") != 1 {
				t.Errorf("%q", got)
			}
		})
	}
}

// A stream that the default generator cannot begin yet waits, too.
func TestLeaseWaitsToBegin(t *testing.T) {
	clitest.Elsewhere(t)
	const single = "31/0/9" // one number
	uidring.Succeed(t, "gen", "--worker", "lease", "--layout", single)
	execute(t, database.Default, "UPDATE WORKER_LEASE SET reserved_until = reserved_until + 86400000 WHERE worker_id = 0")
	f := takeOff(t, single, "--generator", "default")
	f.await("a word", func() bool { return strings.Contains(f.stderr.String(), "the start waits") })
	if code, stderr := f.land(); code != 1 || strings.Count(stderr, "\n") != 2 || f.last.Load() != 0 {
		t.Errorf("exit code %d, %q, id %d; want no more than a warning and the end", code, stderr, f.last.Load())
	}
}
