package main

import (
	"github.com/rs/xid"

	"github.com/uidring/uidring/cmd/internal/bench"
)

var xidPeer = impl{
	Subject: loop("xid", func(n int) (uint64, error) {
		return bench.Repeat(n, func() (uint64, error) { id := xid.New(); return tail(id[:]), nil })
	}),
	Package:     "github.com/rs/xid",
	Scales:      true,
	Kind:        peer,
	ReadsClock:  true,
	Cap:         "16,777,216 / s; past it, its 24-bit counter repeats ids",
	GivesUp:     "96 bits, no BIGINT; order among processes within a second; uniqueness rests on 24 bits of a machine's hash and 16 of a pid",
	RepeatsPast: (1 << 24) / 1e6,
}
