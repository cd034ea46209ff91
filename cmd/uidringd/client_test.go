package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidclient"
)

// openClient returns a client whose ids do not grow old on a busy machine.
func openClient(t *testing.T, name string, urls ...string) *uidclient.Client {
	t.Helper()
	c, err := uidclient.New(t.Context(), urls, name, uidclient.Config{MaxAge: -1, Timeout: 20 * time.Second})
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
