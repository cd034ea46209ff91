//go:build linux

package workerredis_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workerredis"
)

// Whoever holds a number when the server forgets says so, and takes another.
func rewound(t *testing.T, h *holdertest.Holder) {
	t.Helper()
	if err := h.Loss(t); !errors.Is(err, lease.ErrRewound) || !errors.Is(err, lease.ErrLost) {
		t.Errorf("%v; want ErrRewound", err)
	}
	servertest.Eventually(t, "a number is held again", func() bool { g := h.Last(); return g.Held && g.Err == nil })
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
			for _, g := range h.History() {
				if !g.Held && !errors.Is(g.Err, lease.ErrRewound) {
					t.Errorf("the number was lost: %v", g.Err)
				}
			}
		})
	}
}

// A machine that crashed brings back an append-only file without its end.
func TestTruncated(t *testing.T) {
	s := start(t, servertest.Durable...)
	h := take(t, s.client(t))
	h.Renew(t)
	path, size := s.log(t)
	for range 3 {
		h.Renew(t)
	}
	s.Kill()
	must(t, os.Truncate(path, size+20)) // within a command
	s.Restart(t)
	rewound(t, h)
}

// log returns the append-only file, and its size.
func (s server) log(t *testing.T) (path string, size int64) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.Dir, "appendonlydir", "*.incr.aof"))
	if err != nil || len(files) != 1 {
		t.Fatalf("append-only files %v, %v", files, err)
	}
	info, err := os.Stat(files[0])
	must(t, err)
	return files[0], info.Size()
}

// A replica that lacks the last writes becomes the master.
func TestFailover(t *testing.T) {
	s := start(t, append(soon, servertest.Durable...)...)
	h := take(t, s.client(t))
	replica, promoted := s.replica(t)
	must(t, promoted.Do(t.Context(), "REPLICAOF", "NO", "ONE").Err())
	h.Renew(t)
	s.Kill()
	s.Moves(replica.Redis)
	rewound(t, h)
}

// A master becomes a replica, and its address leads to the new master, while connections to the
// old one stay. The holder goes on by its next request.
func TestDemoted(t *testing.T) {
	s := start(t, append(soon, servertest.Durable...)...)
	client := s.client(t)
	h := take(t, client, lease.Config{Expiry: time.Hour, Window: time.Hour})
	replica, _ := s.replica(t)
	var idle []*redis.Conn
	for range 8 { // more than the client tries again
		idle = append(idle, client.Conn())
		must(t, idle[len(idle)-1].Ping(t.Context()).Err())
	}
	for _, conn := range idle {
		must(t, conn.Close())
	}
	replica.Command(t, "REPLICAOF NO ONE")
	s.Command(t, "REPLICAOF "+strings.Replace(replica.Address(), ":", " ", 1))
	s.Moves(replica.Redis)
	known := len(h.History())
	h.Renew(t)
	if failed := h.History()[known].Err; failed != nil {
		t.Errorf("the first renewal failed: %v", failed)
	}
	h.Kept(t)
	must(t, h.Release(t.Context(), time.Now()))
}

// Keys that are gone are missed, however they went.
func TestKeysGone(t *testing.T) {
	t.Run("counts alone", func(t *testing.T) {
		client := start(t).client(t)
		store := workerredis.NewStore(client, workerredis.Config{})
		for want := range int64(3) { // above the rows that are left
			holdertest.Inserts(t, store, holdertest.Fresh(fmt.Sprint(want)), want)
			must(t, client.Del(t.Context(), workerredis.DefaultPrefix+":given").Err())
		}
	})
	for name, commands := range map[string][]string{
		"flushed": {"FLUSHALL"},
		"deleted": {"DEL " + workerredis.DefaultPrefix + ":numbers"},
		"expired": {"PEXPIRE " + workerredis.DefaultPrefix + ":numbers 1"},
		"evicted": {"CONFIG SET maxmemory-policy allkeys-random", "CONFIG SET maxmemory 1", "SET a b", "CONFIG SET maxmemory 0"},
	} {
		t.Run(name, func(t *testing.T) {
			client := start(t).client(t)
			h := take(t, client)
			before := h.Last().Number
			for _, command := range commands {
				var args []any
				for word := range strings.FieldsSeq(command) {
					args = append(args, word)
				}
				if err := client.Do(t.Context(), args...).Err(); !redis.HasErrorPrefix(err, "OOM") {
					must(t, err)
				}
			}
			rewound(t, h)
			if name == "deleted" || name == "expired" { // and the count of numbers given is there
				if g := h.Last(); g.Number <= before {
					t.Errorf("granted %+v; want a number that was never given", g)
				}
			}
		})
	}
}
