package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/cmd/internal/bench"
)

// handmades are what a user would write, except for what needs a store.
var handmades = []impl{
	{
		Subject: bench.Subject{Name: "mutex", Open: func() (*bench.Instance, error) {
			counter := new(lockedCounter)
			return &bench.Instance{Loop: func(n int) (uint64, error) {
				return bench.Repeat(n, func() (uint64, error) { return counter.next(), nil })
			}}, nil
		}},
		Package: "a counter under a `sync.Mutex`",
		Scales:  true,
		Kind:    handmade,
		Cap:     "none",
		GivesUp: "no time, no worker, starts again from 0 with the process",
	},
	{
		Subject: bench.Subject{Name: "channel", Open: func() (*bench.Instance, error) {
			ctx, stop := context.WithCancel(context.Background())
			ids := make(chan uint64, 1024)
			go func() {
				for id := uint64(1); ; id++ {
					select {
					case ids <- id:
					case <-ctx.Done():
						return
					}
				}
			}()
			return &bench.Instance{
				Loop: func(n int) (uint64, error) {
					return bench.Repeat(n, func() (uint64, error) { return <-ids, nil })
				},
				Close: func() error { stop(); return nil },
			}, nil
		}},
		Package: "a goroutine that feeds a buffered channel",
		Scales:  true,
		Kind:    handmade,
		Cap:     "none",
		GivesUp: "no time, no worker, starts again from 0 with the process; a goroutine to stop",
		Setup:   "a buffer of 1,024",
	},
	vesta("vesta-lock", "Vesta's time and sequence under a lock, mended",
		func() func() uint64 { return (&vestaLock{now: seconds, bits: vestaSequence, stores: true}).next }),
	vesta("vesta-cas", "the same by compare-and-swap",
		func() func() uint64 { return (&vestaCAS{now: seconds, bits: vestaSequence}).next }),
}

// lockedCounter is the generator that most people write first.
type lockedCounter struct {
	mu   sync.Mutex
	last uint64
}

func (c *lockedCounter) next() uint64 {
	c.mu.Lock()
	c.last++
	id := c.last
	c.mu.Unlock()
	return id
}

// vestaSequence is how many bits a sequence has: Vesta's 20 are used up too fast to
// measure what an id costs.
const vestaSequence = 31

// vestaLock is Vesta's choice of time and sequence under a lock. As published, it
// does not store the time unit that it waited for when the sequence wrapped, and
// issues (unit, 0) twice; stores says to store it.
type vestaLock struct {
	now    func() int64
	bits   uint
	stores bool

	mu             sync.Mutex
	last, sequence int64
}

func (v *vestaLock) next() uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	at := v.now()
	if at != v.last {
		v.last, v.sequence = at, 0
	} else if v.sequence = (v.sequence + 1) & (1<<v.bits - 1); v.sequence == 0 {
		for at == v.last {
			at = v.now()
		}
		if v.stores {
			v.last = at
		}
	}
	return uint64(at<<v.bits | v.sequence)
}

// vestaCAS is the same choice by compare-and-swap of both at once.
type vestaCAS struct {
	now  func() int64
	bits uint
	last atomic.Int64 // time<<bits | sequence
}

func (v *vestaCAS) next() uint64 {
	for {
		last, at := v.last.Load(), v.now()
		id := at << v.bits
		if last>>v.bits == at {
			if id = last + 1; id>>v.bits != at {
				continue // used up: wait for the next unit
			}
		}
		if v.last.CompareAndSwap(last, id) {
			return uint64(id)
		}
	}
}

func seconds() int64 { return time.Now().Unix() - 1420041600 } // since 2015-01-01 +08:00

func vesta(name, what string, open func() func() uint64) impl {
	return impl{
		Subject: bench.Subject{Name: name, Open: func() (*bench.Instance, error) {
			next := open()
			return &bench.Instance{Loop: func(n int) (uint64, error) {
				return bench.Repeat(n, func() (uint64, error) { return next(), nil })
			}}, nil
		}},
		Package:    what,
		Kind:       handmade,
		ReadsClock: true,
		Cap:        "none, with a sequence of 31 bits",
		GivesUp:    "a step of the clock back",
	}
}
