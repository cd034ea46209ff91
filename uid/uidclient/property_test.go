package uidclient

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// event is what happens to a server, or a draw.
type event struct {
	what   string
	server int
	n      int
	pause  time.Duration
}

// Whatever happens to servers, clients issue no id twice, each id was made by a
// server, and the ids of one instance ascend. In the end ids are issued again.
func TestNoRepeat(t *testing.T) {
	need.Time(t)
	rapid.Check(t, func(rt *rapid.T) {
		config := Config{
			MaxAge: rapid.SampledFrom([]time.Duration{-1, 100 * time.Millisecond, time.Minute}).Draw(rt, "MaxAge"),
			MaxIDs: rapid.Int64Range(1, 2000).Draw(rt, "MaxIDs"),
		}
		servers := rapid.IntRange(1, 3).Draw(rt, "servers")
		clients := rapid.IntRange(1, 3).Draw(rt, "clients")
		latency := time.Duration(rapid.Int64Range(0, int64(40*time.Millisecond)).Draw(rt, "latency"))
		runs := rapid.SampledFrom([]int64{1, 7, 1000}).Draw(rt, "runs")
		events := rapid.SliceOf(rapid.Custom(func(rt *rapid.T) event {
			return event{
				rapid.SampledFrom([]string{"draw", "draw", "draw", "pause", "restart", "unavailable", "hang", "heal", "balance"}).Draw(rt, "what"),
				rapid.IntRange(0, servers-1).Draw(rt, "server"),
				rapid.IntRange(1, 500).Draw(rt, "n"),
				time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(rt, "pause")),
			}
		})).Draw(rt, "events")
		var wrong string
		synctest.Test(t, func(t *testing.T) { wrong = play(t, config, servers, clients, latency, runs, events) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// span is a range of ids that an instance owns. Later instances may lie lower.
const span = 1_000_000_000_000

// play returns what goes wrong, if anything does.
func play(t *testing.T, config Config, servers, clients int, latency time.Duration, runs int64, events []event) (wrong string) {
	var fakes []*fake
	starts := int64(0)
	restart := func(f *fake) {
		starts++
		lower := 1_000_000 - starts
		f.instance, f.number, f.next = fmt.Sprint(lower), 0, lower*span+1
	}
	for range servers {
		f := newFake("", 0)
		f.takes, f.runs = latency, runs
		restart(f)
		fakes = append(fakes, f)
	}
	var all []*Client
	for range clients {
		all = append(all, open(t, config, fakes...))
	}
	var mu sync.Mutex
	seen := map[uid.ID]bool{}
	last := map[string]int64{} // by client and instance
	draw := func(client, n int) (got int) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		ids := make([]uid.ID, n)
		got, err := all[client].WaitN(ctx, ids)
		mu.Lock()
		defer mu.Unlock()
		if err != nil && ctx.Err() == nil {
			wrong = err.Error()
		}
		for _, id := range ids[:got] {
			key := fmt.Sprint(client, " ", int64(id)/span)
			if seen[id] || int64(id) <= last[key] {
				wrong = fmt.Sprintf("client %d: id %d after %d of its instance; issued before: %v", client, id, last[key], seen[id])
			}
			seen[id], last[key] = true, int64(id)
		}
		return got
	}
	for _, e := range events {
		f := fakes[e.server]
		switch e.what {
		case "draw": // of all clients at once, each one taker so that order is known
			var draws sync.WaitGroup
			for i := range all {
				draws.Go(func() { draw(i, e.n) })
			}
			draws.Wait()
		case "pause":
			time.Sleep(e.pause)
		case "restart":
			f.set(restart)
		case "unavailable":
			f.down()
		case "hang":
			f.hang()
		case "heal":
			f.set(func(f *fake) { f.unavailable, f.takes = false, latency })
		case "balance": // connections lead to another server
			other := fakes[(e.server+1)%servers]
			if other != f {
				f.set(func(f *fake) {
					other.set(func(o *fake) {
						f.instance, f.number, f.next, o.instance, o.number, o.next = o.instance, o.number, o.next, f.instance, f.number, f.next
					})
				})
			}
		}
	}
	for _, f := range fakes {
		f.set(func(f *fake) { f.unavailable, f.takes = false, latency })
	}
	for i, c := range all {
		if n := draw(i, 200); n < 200 {
			return fmt.Sprintf("client %d gets %d ids of 200 once all is well; %s", i, n, wrong)
		}
		time.Sleep(20 * time.Second) // the ids may be the last of an earlier answer, and the next attempt is due within 15 s
		s := c.Stats()
		if err := c.Close(); err != nil {
			return err.Error()
		}
		if s.LastError != nil {
			return fmt.Sprintf("Stats() = %+v once all is well", s)
		}
	}
	return wrong
}
