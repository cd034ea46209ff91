package main

import (
	"encoding/binary"

	"github.com/uidring/uidring/cmd/uidring/bench/measure"
)

// impl is a row of the page: what is measured, and what to know of it besides its
// speed. A peer has a file of its own; all lists them.
type impl struct {
	measure.Subject // Name is in the tables of figures

	Package string // import path and call, or a phrase for what has none
	Kind    kind
	Cap     string // the greatest rate that the design allows, whatever the machine
	GivesUp string // what a user does without, or accepts, when choosing it over ours; for ours, the other way round
	Setup   string // how it was configured, if not as it comes

	ReadsClock  bool    // each id costs a reading of the clock
	RepeatsPast float64 // ids a second past which ids repeat; 0 if there is no such rate
	Bars        []limit // promises about its speed; of ours only
	Flat        bool    // it is promised to cost the same from 2 goroutines to 64
	Scales      bool    // it is in the table of goroutines
}

// kind says what a row does on the page.
type kind int

const (
	floor    kind = iota // the least that an id can cost
	ours                 // a generator of this project
	peer                 // a library that makes ids too
	handmade             // what one would write without a library
)

// all returns the rows in the order of the page.
func all() []impl {
	return append([]impl{
		add, called, now,
		cachedNext, cachedNextN, cachedWaitN, cachedAll, defaultNext, defaultNextN, defaultAll, slotsNext,
		segmentNext, segmentNextN, segmentAll,
		clientNext, clientNextN, clientAll, clientFetch,
		snowflakePeer, sonyflakePeer, xidPeer, googleV7, googleV4, gofrsV7, ulidPeer, ksuidPeer, objectID,
		mutexCounter, channelFeed, vestaLocked, vestaSwapped,
	}, stores()...)
}

// loop returns a subject that has nothing to start or to close.
func loop(name string, calls func(n int) (uint64, error)) measure.Subject {
	return measure.Subject{Name: name, Open: func() (*measure.Instance, error) {
		return &measure.Instance{Loop: calls}, nil
	}}
}

// tail returns the end of an id of more than 64 bits, where ids differ.
func tail(id []byte) uint64 { return binary.BigEndian.Uint64(id[len(id)-8:]) }
