//go:build linux

package workerredis_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/internal/holding"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workerredis"
)

// Whoever holds a number when the server forgets says so, and takes another.
func rewound(t *testing.T, h *holding.Holder) {
	t.Helper()
	if err := h.Loss(t); !errors.Is(err, lease.ErrRewound) || !errors.Is(err, lease.ErrLost) {
		t.Errorf("%v; want ErrRewound", err)
	}
	servertest.Eventually(t, "a number is held again", func() bool { g := h.Last(); return g.Held && g.Err == nil })
}

// onlyRewound fails if the number was lost other than by a server that forgot.
func onlyRewound(t *testing.T, h *holding.Holder) {
	t.Helper()
	for _, g := range h.History() {
		if !g.Held && !errors.Is(g.Err, lease.ErrRewound) {
			t.Errorf("the number was lost: %v", g.Err)
		}
	}
}

// A server that is killed forgets nothing with always. With everysec it writes to the
// operating system before it answers, except while a flush is under way: then it answers
// first, and the holder notices the loss.
func TestKilled(t *testing.T) {
	for _, fsync := range []string{"always", "everysec"} {
		t.Run(fsync, func(t *testing.T) {
			s := start(t, "--appendonly", "yes", "--appendfsync", fsync)
			h := take(t, s.client(t))
			for range 3 {
				h.Renew(t)
				s.Kill()
				servertest.Eventually(t, "the server is missed", func() bool { return h.Last().Err != nil })
				s.Restart(t)
				h.Renew(t)
			}
			if fsync == "always" {
				h.Kept(t)
			}
			onlyRewound(t, h)
		})
	}
}

// A machine that crashed brings back an append-only file without its end.
func TestTruncated(t *testing.T) {
	s := start(t, servertest.Durable...)
	h := take(t, s.client(t))
	h.Renew(t)
	size := s.file(t)
	for range 3 {
		h.Renew(t)
	}
	s.Kill()
	must(t, os.Truncate(s.log(t), size+20)) // within a command
	s.Restart(t)
	rewound(t, h)
}

// log is the append-only file.
func (s server) log(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.Dir, "appendonlydir", "*.incr.aof"))
	if err != nil || len(files) != 1 {
		t.Fatalf("append-only files %v, %v", files, err)
	}
	return files[0]
}

// file is the size of the append-only file.
func (s server) file(t *testing.T) int64 {
	t.Helper()
	info, err := os.Stat(s.log(t))
	must(t, err)
	return info.Size()
}

// A replica that lacks the last writes becomes the master.
func TestFailover(t *testing.T) {
	s := start(t, append(soon, servertest.Durable...)...)
	h := take(t, s.client(t))
	host, port, _ := strings.Cut(s.Address(), ":")
	replica := start(t, "--replicaof", host+" "+port)
	promoted := replica.client(t)
	servertest.Eventually(t, "the replica has the row", func() bool {
		return promoted.Exists(t.Context(), workerredis.DefaultPrefix+":numbers").Val() == 1
	})
	must(t, promoted.Do(t.Context(), "REPLICAOF", "NO", "ONE").Err())
	h.Renew(t)
	s.Kill()
	s.Moves(replica.Redis)
	rewound(t, h)
}

// Keys that are gone are missed, however they went.
func TestKeysGone(t *testing.T) {
	for name, commands := range map[string][]string{
		"flushed": {"FLUSHALL"},
		"deleted": {"DEL " + workerredis.DefaultPrefix + ":numbers"},
		"expired": {"PEXPIRE " + workerredis.DefaultPrefix + ":numbers 1"},
		"evicted": {"CONFIG SET maxmemory-policy allkeys-random", "CONFIG SET maxmemory 1", "SET a b", "CONFIG SET maxmemory 0"},
	} {
		t.Run(name, func(t *testing.T) {
			client := start(t).client(t)
			h := take(t, client)
			for _, command := range commands {
				var args []any
				for word := range strings.FieldsSeq(command) {
					args = append(args, word)
				}
				if err := client.Do(t.Context(), args...).Err(); err != nil && !strings.HasPrefix(err.Error(), "OOM") {
					t.Fatal(err)
				}
			}
			rewound(t, h)
			if name == "deleted" || name == "expired" { // and the count of numbers given is there
				if g := h.Last(); g.Number != 1 {
					t.Errorf("granted %+v; want a number that was never given", g)
				}
			}
		})
	}
}
