package segment_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

// Close waits a second for a load, however long loads may take. Giving up does not
// count as a failure of the store.
func TestCloseGivesUpALoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(counter)
		g := open(t, store, segment.Config{Step: 100, MaxStep: 100, LoadTimeout: time.Hour})
		store.takes.Store(int64(time.Hour))
		store.deaf.Store(true)
		take(t, g, 1, 42)
		synctest.Wait()
		began := time.Now()
		_ = g.Shutdown(t.Context())
		if took := time.Since(began); took > time.Second+time.Hour {
			t.Errorf("Shutdown() took %v, want a second and the time of the return", took)
		}
		if s := g.Stats(); s.Loads.Failures != 0 || s.LastError != nil {
			t.Errorf("%d failures, the last %v", s.Loads.Failures, s.LastError)
		}
	})
}

// drawing is a log handler that draws ids.
type drawing struct {
	slog.Handler
	draw func()
}

func (d drawing) Handle(_ context.Context, r slog.Record) error {
	if r.Message != "segment: started" { // New has not returned yet
		d.draw()
	}
	return nil
}

// A log handler may draw from the generator, and wait for it: nothing waits for the
// handler but Close.
func TestHandlerDrawsIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(counter)
		var g *segment.Counter
		lines := 0
		g = open(t, store, segment.Config{Step: 10, MaxStep: 10, Logger: slog.New(drawing{slog.NewTextHandler(t.Output(), nil), func() {
			lines++
			if _, err := g.Wait(t.Context()); err != nil {
				t.Errorf("Wait() = %v in the handler", err)
			}
		}})})
		store.unavailable.Store(true)
		for id, err := g.Next(); err == nil; id, err = g.Next() {
			if id > 100 {
				t.Fatal("ids go on without the store")
			}
		}
		time.Sleep(time.Minute)
		store.unavailable.Store(false)
		_, err := g.Wait(t.Context())
		must(t, err)
		time.Sleep(time.Second)
		if err := g.Close(); err != nil || lines != 2 {
			t.Errorf("Close() = %v after %d lines, want 2", err, lines)
		}
	})
}

// A start logs one line: what was started, from which counter, and its first range.
func TestStartIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(segmenttest.Memory)
		must(t, store.Create(t.Context(), "orders", 5, 10))
		log := new(slowly)
		gen, err := segment.New(t.Context(), store, "orders", segment.Config{Step: 10, MinStep: 10, Logger: slog.New(slog.NewTextHandler(log, nil))})
		must(t, err)
		gen.Close() // which waits for the line
		_, got, _ := strings.Cut(log.String(), " ")
		if want := `level=INFO msg="segment: started" kind=Counter tag=orders store=` + store.String() + " first=5 end=15\n"; got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	})
}

// slowly is a log that takes its time.
type slowly struct{ logged.Text }

func (s *slowly) Write(p []byte) (int, error) {
	time.Sleep(time.Millisecond)
	return s.Text.Write(p)
}
