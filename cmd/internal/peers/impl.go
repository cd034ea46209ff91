package main

import (
	"encoding/binary"
	"slices"

	"github.com/uidring/uidring/cmd/internal/bench"
)

// impl is a row of the page: a subject, and facts about it besides its speed.
type impl struct {
	bench.Subject // Name is in the tables of figures

	Package string // import path and call, or a phrase if there is no package
	Kind    kind
	Cap     string // the greatest rate that the design allows, whatever the machine
	GivesUp string // what a user of a peer does without, compared with ours; for ours, compared with peers
	Setup   string // how it was configured, if not by default

	ReadsClock  bool    // each id costs a reading of the clock
	RepeatsPast float64 // million ids a second past which ids repeat; 0 if there is no such rate
	Bars        []limit // promises about its speed; of ours only
	Flat        bool    // a promise: it costs the same from 2 goroutines to 64
	Scales      bool    // it has a row in the tables by goroutines

	There func() bool // whether what it needs is there; nil is always
}

// kind is the kind of a row.
type kind int

const (
	floor    kind = iota // the least that an id can cost
	ours                 // a generator of this project
	peer                 // a library of others that makes ids
	handmade             // what a user would write without a library
)

// all are the rows in the order of the page.
var all = slices.Concat([]impl{
	add, called, fill, now,
	cachedNext, cachedWait, cachedFew, cachedNextN, cachedWaitN, cachedAll, defaultNext, defaultNextN, defaultAll, slotsNext,
	segmentNext, segmentNextN, segmentAll, clientNext, clientLarge,
}, libraries, handmades, onStores)

// there returns the rows that can be measured here.
func there() []impl {
	return slices.DeleteFunc(slices.Clone(all), func(row impl) bool { return row.There != nil && !row.There() })
}

// loop returns a subject that has nothing to start or to close.
func loop(name string, calls func(n int) (uint64, error)) bench.Subject {
	return bench.Subject{Name: name, Open: func() (*bench.Instance, error) {
		return &bench.Instance{Loop: calls}, nil
	}}
}

// tail returns the end of an id of more than 64 bits, where ids differ.
func tail(id []byte) uint64 { return binary.BigEndian.Uint64(id[len(id)-8:]) }
