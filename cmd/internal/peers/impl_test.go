package peers

import (
	"context"
	"log/slog"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/bench"
	"github.com/uidring/uidring/internal/contention"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
	"github.com/uidring/uidring/uid/uidclient"
)

// impl is a row: a subject and the base that its ratio is taken to.
type impl struct {
	bench.Subject
	base bench.Subject

	// phase is how long the row and its base are measured in turn; 0 means 4 ms.
	phase time.Duration

	// The greatest ratio that the project promises, with one goroutine and with one for
	// each core; 0 without a promise. A row with a promise makes no garbage.
	one, all float64
}

// The bases.
var (
	add    = bench.Add()
	called = bench.Subject{Name: "called-add", Open: func() (bench.Loop, func() error, error) {
		counter := new(contention.Int64)
		return func(n int) error {
			return bench.Repeat(n, func() error { _, err := call(counter); return err })
		}, nil, nil
	}}
	fill = bench.Subject{Name: "add-and-fill", IDs: bench.Batch, Open: func() (bench.Loop, func() error, error) {
		counter := new(contention.Int64)
		return func(n int) error {
			var ids [bench.Batch]uid.ID
			return bench.Repeat(n, func() error { fillByEight(counter, ids[:]); return nil })
		}, nil, nil
	}}
	now = bench.Subject{Name: "time.Now", Open: func() (bench.Loop, func() error, error) {
		return func(n int) error {
			return bench.Repeat(n, func() error { read = time.Now().IsZero(); return nil })
		}, nil, nil
	}}
	cachedNext = bench.Method("Cached.Next", 1, cached, bench.CachedNext)
)

var cached = bench.Cached(uid.CachedConfig{Layout: bits.Default()})

// call has the results of Next, so that it costs as much as a call of Next.
//
//go:noinline
func call(counter *contention.Int64) (int64, error) { return counter.Add(1), nil }

// fillByEight writes consecutive ids, eight at a time: the least work of a batch.
//
//go:noinline
func fillByEight(counter *contention.Int64, ids []uid.ID) {
	first := uid.ID(counter.Add(int64(len(ids)))) - uid.ID(len(ids)) + 1
	for ; len(ids) >= 8; first, ids = first+8, ids[8:] {
		eight := (*[8]uid.ID)(ids)
		eight[0], eight[1], eight[2], eight[3] = first, first+1, first+2, first+3
		eight[4], eight[5], eight[6], eight[7] = first+4, first+5, first+6, first+7
	}
}

// impls are all rows, in the order of the page.
func impls() []impl {
	return append([]impl{
		{Subject: add, base: add},
		{Subject: called, base: add},
		{Subject: now, base: add},
		{Subject: cachedNext, base: add, one: 1.35},
		{Subject: cachedNext, base: called, all: 1},
		{Subject: bench.Method("Cached.Wait", 1, cached, cachedWait), base: cachedNext, one: 1.5, all: 1.5},
		{Subject: bench.Method("Cached.NextN(16)", 16, cached, cachedNextFew), base: add, one: 0.35, all: 0.35},
		{Subject: bench.Method("Cached.NextN(256)", bench.Batch, cached, bench.CachedNextN), base: fill, one: 2, all: 2},
		{Subject: bench.Method("Cached.All", 1, cached, cachedAll), base: add, one: 0.5, all: 0.5},
		{Subject: bench.Method("Default.Next", 1, bench.Default, bench.DefaultNext), base: now, one: 0.9},
		{Subject: bench.Method("Slots.Next", 1, slots, slotsNext), base: now},
		{Subject: bench.Method("Segment.Next", 1, counted, segmentNext), base: called, one: 1.1, all: 1.1},
		{Subject: remote, base: called, one: 1.3, all: 1.3},
	}, libraries()...)
}

func cachedWait(gen *uid.Cached, n int) error {
	ctx := context.Background()
	return bench.Repeat(n, func() error { _, err := gen.Wait(ctx); return err })
}

func cachedNextFew(gen *uid.Cached, n int) error {
	var ids [16]uid.ID
	return bench.Repeat(n, func() error { _, err := gen.NextN(ids[:]); return err })
}

func cachedAll(gen *uid.Cached, n int) error {
	for _, err := range gen.All(context.Background()) {
		if n--; n == 0 || err != nil {
			return err
		}
	}
	return nil
}

var silent = slog.New(slog.DiscardHandler)

func slots() (*uid.Slots, error) {
	return uid.NewSlots(context.Background(), uid.StaticWorker(0), uid.SlotsConfig{Layout: bench.Roomy, Logger: silent})
}

func slotsNext(gen *uid.Slots, n int) error {
	return bench.Repeat(n, func() error { _, err := gen.Next(); return err })
}

// counted starts a segment on a store in memory.
func counted() (*segment.Generator, error) {
	return segment.New(context.Background(), new(segmenttest.Memory), "orders", segment.Config{Create: true, Logger: silent})
}

func segmentNext(gen *segment.Generator, n int) error {
	return bench.Repeat(n, func() error { _, err := gen.Next(); return err })
}

// remote is a client of a server process with a counter in SQLite, both by default.
var remote = bench.Subject{Name: "Client.Next", Open: func() (bench.Loop, func() error, error) {
	server, err := startUidringd(counterConfig)
	if err != nil {
		return nil, nil, err
	}
	open := func() (*uidclient.Client, error) {
		return uidclient.New(context.Background(), []string{"http://" + server.http}, "orders", uidclient.Config{Logger: silent})
	}
	loop, end, err := bench.Method("", 1, open, clientNext).Open()
	if err != nil {
		server.stop()
		return nil, nil, err
	}
	return loop, func() error { defer server.stop(); return end() }, nil
}}

func clientNext(client *uidclient.Client, n int) error {
	return bench.Repeat(n, func() error { _, err := client.Next(); return err })
}
