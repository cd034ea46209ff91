package main

import (
	"github.com/segmentio/ksuid"

	"github.com/uidring/uidring/cmd/internal/bench"
)

var ksuidPeer = impl{
	Subject: loop("ksuid", func(n int) (uint64, error) {
		return bench.Repeat(n, func() (uint64, error) { id, err := ksuid.NewRandom(); return tail(id[:]), err })
	}),
	Package:    "github.com/segmentio/ksuid",
	Kind:       peer,
	ReadsClock: true,
	Cap:        "none",
	GivesUp:    "160 bits, no BIGINT; order within a second; unique by chance, though a good one",
}
