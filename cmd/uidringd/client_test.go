package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
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

// A proxy answers 400 for a while. Then the client soon asks for as many ids as before.
func TestClientGrowsAgain(t *testing.T) {
	server := start(t, t.TempDir())
	to, err := url.Parse(server.url)
	if err != nil {
		t.Fatal(err)
	}
	var broken atomic.Bool
	var requests atomic.Int64
	proxy := httputil.NewSingleHostReverseProxy(to)
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if broken.Load() {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, "<html>")
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	defer between.Close()
	c, seen := openClient(t, "orders", between.URL), new(sync.Map)
	drawAll(t, c, 100_000, seen)
	broken.Store(true)
	for err = error(nil); err == nil; {
		_, err = c.Next()
	}
	if status := (*uidclient.StatusError)(nil); !errors.As(err, &status) || status.Status != http.StatusBadRequest {
		t.Fatalf("Next() = %v, want status 400", err)
	}
	broken.Store(false)
	for began := time.Now(); err != nil && time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
		_, err = c.Next()
	}
	before := requests.Load()
	drawAll(t, c, 200_000, seen)
	if n := requests.Load() - before; n > 50 {
		t.Errorf("%d requests for 200,000 ids, want 20 and 14 doublings", n)
	}
}

// A generator that makes fewer ids a second than the client asks for is asked for fewer.
func TestClientOfSlowGenerator(t *testing.T) {
	dir := t.TempDir()
	config := write(t, dir, "uidring.yaml", `
listen: 127.0.0.1:0
generators:
  - {name: stamps, kind: default, layout: "31/21/11,epoch=2026-01-01", worker: "static:7"}
`)
	server := start(t, dir, "--config", config)
	c := openClient(t, "stamps", server.url)
	drawAll(t, c, 8000, new(sync.Map)) // 2,048 a second
	if s := c.Stats(); s.Loads.Failures == 0 {
		t.Errorf("Stats() = %+v, want a request for more than the server makes in time", s)
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

// Two servers with stores of their own make the same ids of a counter. A client of both
// refuses the second.
func TestClientOfTwoStores(t *testing.T) {
	seen := new(sync.Map)
	one, two := start(t, t.TempDir()), start(t, t.TempDir())
	c := openClient(t, "orders", one.url, two.url)
	drawAll(t, c, 1000, seen)
	first := one
	if c.Stats().Loads.From == two.url+"/v1/orders/runs" {
		first = two
	}
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	var err error
	for n := 0; err == nil && n < 1_000_000; n++ {
		var id uid.ID
		if id, err = c.Next(); err == nil {
			if _, before := seen.LoadOrStore(id, true); before {
				t.Fatalf("id %d is issued twice", id)
			}
		}
	}
	if !errors.Is(err, uidclient.ErrRewound) {
		t.Errorf("Next() = %v, want ErrRewound", err)
	}
}

// Ids of slots have no order, so a client refuses them at the start.
func TestClientOfSlots(t *testing.T) {
	dir := t.TempDir()
	config := write(t, dir, "uidring.yaml", `
listen: 127.0.0.1:0
generators:
  - {name: anyclock, kind: slots, worker: "static:7"}
`)
	server := start(t, dir, "--config", config)
	_, err := uidclient.New(t.Context(), []string{server.url}, "anyclock", uidclient.Config{})
	if !errors.Is(err, uidclient.ErrAnswer) || !strings.Contains(err.Error(), "kind slots") {
		t.Errorf("New() = %v, want ErrAnswer and the kind", err)
	}
}
