package main

import (
	"github.com/oklog/ulid/v2"

	"github.com/uidring/uidring/cmd/internal/bench"
)

var ulidPeer = impl{
	Subject: loop("ulid", func(n int) (uint64, error) {
		return bench.Repeat(n, func() (uint64, error) { id := ulid.Make(); return tail(id[:]), nil })
	}),
	Package:    "github.com/oklog/ulid/v2, `Make`",
	Kind:       peer,
	ReadsClock: true,
	Cap:        "none",
	GivesUp:    "128 bits, no BIGINT; order among goroutines at the edge of a millisecond; unique by chance, from math/rand seeded with the time",
}
