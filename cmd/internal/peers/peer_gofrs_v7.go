package main

import (
	"github.com/gofrs/uuid/v5"

	"github.com/uidring/uidring/cmd/internal/bench"
)

var gofrsV7 = impl{
	Subject: loop("gofrs-uuid-v7", func(n int) (uint64, error) {
		return bench.Repeat(n, func() (uint64, error) { id, err := uuid.NewV7(); return tail(id[:]), err })
	}),
	Package:    "github.com/gofrs/uuid/v5, `NewV7`",
	Kind:       peer,
	ReadsClock: true,
	Cap:        "none",
	GivesUp:    "128 bits, no BIGINT; order only until its 12-bit counter wraps within a millisecond; unique by chance, though a good one",
}
