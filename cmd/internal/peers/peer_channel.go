package main

import (
	"context"

	"github.com/uidring/uidring/cmd/internal/bench"
)

// channelBuffer is a generous size for a channel of ids.
const channelBuffer = 1024

var channelFeed = impl{
	Subject: bench.Subject{Name: "channel", Open: func() (*bench.Instance, error) {
		ctx, stop := context.WithCancel(context.Background())
		ids := make(chan uint64, channelBuffer)
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
}
