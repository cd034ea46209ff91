package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// execute changes a database behind the command's back.
func execute(t *testing.T, dsn, statement string, args ...any) {
	t.Helper()
	db := clitest.Open(t, dsn)
	need.Must(t, db.Exec(statement, args...).Error)
}

// When all numbers are held, no file is left open and the error says so.
func TestLeaseExhausted(t *testing.T) {
	clitest.Elsewhere(t)
	leaser := worker.NewLeaser(clitest.Open(t, database.Default).DB, lease.Config{})
	held, err := leaser.Lease(t.Context(), lease.Request{Limit: 1, Clock: time.Now, Granted: func(lease.Grant) {}, Layout: "31/1/9,epoch=2026-01-01,unit=1s"})
	need.Must(t, err)
	defer held.Release(t.Context(), time.Now())
	got := uidring.Invoke(t, "", "gen", "--worker", "lease", "--layout", "31/1/9") // one number, since 0 is no key
	if got.Code != 1 || !strings.Contains(got.Stderr, "uidring.db\" (the default): ") || !strings.Contains(got.Stderr, "exhausted") || strings.Count(got.Stderr, "\n") != 1 {
		t.Errorf("%+v", got)
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
	for name, tt := range map[string]struct {
		result error
		more   string // on standard error
	}{
		"all ids":      {nil, ""},
		"no reader":    {syscall.EPIPE, ""},
		"disk is full": {syscall.ENOSPC, "uidring: write to standard output: no space left on device\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // giving up takes seconds
			dsn := filepath.Join(t.TempDir(), database.Default)
			stdout := &spoiler{spoil: func() error {
				execute(t, dsn, "ALTER TABLE WORKER_LEASE RENAME TO UNAVAILABLE")
				return tt.result
			}}
			var stderr bytes.Buffer
			code := uidring.Run(t.Context(), nil, stdout, &stderr, []string{"gen", "-n", "5", "--worker", "lease", "--dsn", dsn}...)
			if ids := clitest.ReadIDs(t, stdout.String()); code != 1 || len(ids) != 5 {
				t.Errorf("exit code %d, ids %v; want 1 and five", code, ids)
			}
			if got := clitest.WithoutStart(stderr.String()); !strings.HasPrefix(got, "uidring: the ids are good, but their worker number was not given back") ||
				!strings.HasSuffix(got, "\n"+tt.more) || strings.Count(got, "\n") != 1+strings.Count(tt.more, "\n") {
				t.Errorf("%q", got)
			}
		})
	}
}
