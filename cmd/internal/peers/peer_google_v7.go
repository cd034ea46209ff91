package main

import (
	"github.com/google/uuid"

	"github.com/uidring/uidring/cmd/internal/bench"
)

var googleV7 = impl{
	Subject: loop("google-uuid-v7", func(n int) (uint64, error) {
		return bench.Repeat(n, func() (uint64, error) { id, err := uuid.NewV7(); return tail(id[:]), err })
	}),
	Package:    "github.com/google/uuid, `NewV7`",
	Scales:     true,
	Kind:       peer,
	ReadsClock: true,
	Cap:        "none: past 3.9 million / s its stamps run ahead of the clock",
	GivesUp:    "128 bits, no BIGINT; unique by chance, though a good one; no worker to read back",
	Setup:      "without `EnableRandPool`, as it comes",
}
