package bench

import (
	"context"
	"log/slog"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/contention"
	"github.com/uidring/uidring/uid"
)

// Batch is how many ids a call of NextN makes.
const Batch = 256

// Roomy is the layout that Default is measured with: Default waits for the next tick once
// it has used up the ids of one, which are 8,192 a second in the default layout.
var Roomy = bits.Layout{
	TimeBits: 31, WorkerBits: 1, SequenceBits: 31,
	Epoch: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC),
	Unit:  time.Second,
}

// Add returns the floor: an atomic add to a number that all goroutines share.
func Add() Subject {
	return Subject{Name: "add", Open: func() (Loop, func() error, error) {
		counter := new(contention.Int64)
		return func(n int) error {
			return Repeat(n, func() error { counter.Add(1); return nil })
		}, nil, nil
	}}
}

// Cached returns a func that starts a cached generator. The generator borrows without
// bound: a loop that takes ids reaches any bound within seconds.
func Cached(config uid.CachedConfig) func() (*uid.Cached, error) {
	config.MaxBorrow, config.Logger = uid.Unlimited, slog.New(slog.DiscardHandler)
	return func() (*uid.Cached, error) {
		return uid.NewCached(context.Background(), uid.StaticWorker(0), config)
	}
}

// Default starts a default generator with the layout [Roomy].
func Default() (*uid.Default, error) {
	config := uid.DefaultConfig{Layout: Roomy, Logger: slog.New(slog.DiscardHandler)}
	return uid.NewDefault(context.Background(), uid.StaticWorker(0), config)
}

// Method returns a subject for a method that makes ids ids, and that loop calls n times.
func Method[G interface{ Close() error }](name string, ids int, open func() (G, error), loop func(gen G, n int) error) Subject {
	return Subject{name, ids, func() (Loop, func() error, error) {
		gen, err := open()
		if err != nil {
			return nil, nil, err
		}
		return func(n int) error { return loop(gen, n) }, gen.Close, nil
	}}
}

// CachedNext calls Next.
func CachedNext(gen *uid.Cached, n int) error {
	return Repeat(n, func() error { _, err := gen.Next(); return err })
}

// CachedNextN calls NextN with room for [Batch] ids.
func CachedNextN(gen *uid.Cached, n int) error {
	var ids [Batch]uid.ID
	return Repeat(n, func() error { _, err := gen.NextN(ids[:]); return err })
}

// DefaultNext calls Next.
func DefaultNext(gen *uid.Default, n int) error {
	return Repeat(n, func() error { _, err := gen.Next(); return err })
}
