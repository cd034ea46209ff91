package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
	"github.com/uidring/uidring/uid/uidclient"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// openClient returns a client whose ids do not grow old on a busy machine.
func openClient(t *testing.T, name string, urls ...string) *uidclient.Client {
	t.Helper()
	c, err := uidclient.New(t.Context(), urls, name, uidclient.Config{MaxAge: -1, Timeout: 20 * time.Second, Hedge: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// drawAll draws n ids, and fails if one was seen before.
func drawAll(t *testing.T, g uid.Generator, n int, seen *sync.Map) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ids := make([]uid.ID, n)
	if got, err := g.WaitN(ctx, ids); got != n || err != nil {
		t.Errorf("WaitN() = %d, %v, want %d ids", got, err, n)
	}
	for _, id := range ids {
		if _, before := seen.LoadOrStore(id, true); before && id != 0 {
			t.Errorf("id %d is issued twice", id)
			return
		}
	}
}

// A generator that makes fewer ids a second than the client asks for is asked for fewer. Ids
// of slots have no order, so a client refuses them at the start.
func TestClientOfSlowGenerator(t *testing.T) {
	server := startConfig(t, `
generators:
  - {name: stamps, kind: default, layout: "31/21/11,epoch=2026-01-01", worker: "static:7"}
  - {name: anyclock, kind: slots, worker: "static:8"}
`)
	c := openClient(t, "stamps", server.url)
	drawAll(t, c, 8000, new(sync.Map)) // 2,048 a second
	if s := c.Stats(); s.Loads.Failures == 0 {
		t.Errorf("Stats() = %+v, want a request for more than the server makes in time", s)
	}
	_, err := uidclient.New(t.Context(), []string{server.url}, "anyclock", uidclient.Config{})
	if !errors.Is(err, uidclient.ErrAnswer) || !strings.Contains(err.Error(), "kind slots") {
		t.Errorf("New() = %v, want ErrAnswer and the kind", err)
	}
}

// Generators in another process draw from a server's store beside its clients: no id is
// issued twice.
func TestClientBesideGenerators(t *testing.T) {
	dir := t.TempDir()
	server := start(t, dir)
	db, err := database.Place{DSN: "sqlite:" + filepath.Join(dir, "uidring.db")}.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	cached, err := uid.NewCached(t.Context(), worker.NewLeaser(db.DB, lease.Config{}), uid.CachedConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cached.Close() })
	counter, err := segment.New(t.Context(), segmentsql.LeafAlloc(db.DB, segmentsql.Config{}), "orders", segment.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = counter.Close() })
	for name, linked := range map[string]uid.Generator{"ids": cached, "orders": counter} {
		var draws sync.WaitGroup
		seen := new(sync.Map)
		for _, g := range []uid.Generator{linked, openClient(t, name, server.url), openClient(t, name, server.url)} {
			draws.Go(func() {
				for range 20 {
					drawAll(t, g, 5000, seen)
				}
			})
		}
		draws.Wait()
	}
}
