package main

import (
	"github.com/google/uuid"

	"github.com/uidring/uidring/cmd/internal/bench"
)

var googleV4 = impl{
	Subject: loop("google-uuid-v4", func(n int) (uint64, error) {
		return bench.Repeat(n, func() (uint64, error) { id, err := uuid.NewRandom(); return tail(id[:]), err })
	}),
	Package: "github.com/google/uuid, `NewRandom`",
	Kind:    peer,
	Cap:     "none",
	GivesUp: "128 bits, no BIGINT; no order and no time: a key that lands anywhere in an index; unique by chance, though a good one",
	Setup:   "without `EnableRandPool`, as it comes",
}
