//go:build linux

package segmentredis_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// A counter that is gone, lacks a part or has changed is refused. Nobody starts it again, but an
// operator can raise it.
func TestVanished(t *testing.T) {
	s := start(t)
	for name, c := range map[string]struct {
		commands string
		refusal  error
		mended   int64
	}{
		"counter deleted":   {"DEL " + next, uid.ErrRewound, 101},
		"counter expired":   {"PEXPIREAT " + next + " 1", uid.ErrRewound, 101},
		"counter set back":  {"HSET " + next + " orders 50", uid.ErrRewound, 101},
		"counter is a word": {"HSET " + next + " orders many", uid.ErrRewound, 101},
		"maximum deleted":   {"DEL " + tags, uid.ErrRewound, 101},
		"maximum odd":       {"HSET " + tags + " orders many", uid.ErrRewound, 101},
		"set ahead":         {"HSET " + next + " orders 1000", nil, 1005},
		"flushed":           {"FLUSHALL", segment.ErrUnknownTag, 0},
		"evicted": {
			"CONFIG SET maxmemory-policy allkeys-random\nCONFIG SET maxmemory 1\nSET a b\nCONFIG SET maxmemory 0\nCONFIG SET maxmemory-policy noeviction",
			segment.ErrUnknownTag, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := s.client(t)
			do(t, client, "FLUSHALL")
			store := open(t, client)
			do(t, client, strings.Split(c.commands, "\n")...)
			f, n, err := store.Reserve(t.Context(), "orders", 5)
			if !errors.Is(err, c.refusal) {
				t.Fatalf("Reserve() = %d, %d, %v, want %v", f, n, err, c.refusal)
			}
			if done, err := store.Return(t.Context(), "orders", 51, 101); done || err != nil {
				t.Errorf("Return() = %t, %v, want it refused", done, err)
			}
			counters, err := store.List(t.Context())
			if c.mended != 0 && (err != nil || len(counters) != 1 || counters[0].Tag != "orders" || counters[0].Next != c.mended) {
				t.Errorf("List() = %+v, %v, want what Raise will begin with, %d", counters, err, c.mended)
			}
			// Create does not replace a counter while a part of it is left.
			if err := store.Create(t.Context(), "orders", 1, 10); c.mended != 0 && !errors.Is(err, segment.ErrTagExists) {
				t.Errorf("Create() = %v, want ErrTagExists", err)
			} else if c.mended == 0 {
				must(t, err)
				do(t, client, "FLUSHALL")
			}
			now, err := store.Raise(t.Context(), "orders", 20)
			if c.mended == 0 {
				if !errors.Is(err, segment.ErrUnknownTag) {
					t.Errorf("Raise() = %d, %v, want ErrUnknownTag", now, err)
				}
				return
			}
			if now != c.mended || err != nil {
				t.Errorf("Raise() = %d, %v, want %d", now, err, c.mended)
			}
			want(t, store, 1, c.mended)
		})
	}
}

// A server that is killed forgets nothing with always. (With everysec it can answer
// before it writes, while a flush is under way.)
func TestKilled(t *testing.T) {
	s := start(t, servertest.Durable...)
	store := open(t, s.client(t))
	for first := int64(101); first < 131; first += 10 {
		want(t, store, 10, first)
		s.Kill()
		_, _, err := store.Reserve(t.Context(), "orders", 10)
		wantErr(t, err, nil)
		s.Restart(t)
	}
}
