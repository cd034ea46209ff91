package main

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/uidring/uidring/cmd/internal/bench"
)

var objectID = impl{
	Subject: loop("objectid", func(n int) (uint64, error) {
		return bench.Repeat(n, func() (uint64, error) { id := bson.NewObjectID(); return tail(id[:]), nil })
	}),
	Package:     "go.mongodb.org/mongo-driver/v2/bson, `NewObjectID`",
	Kind:        peer,
	ReadsClock:  true,
	Cap:         "16,777,216 / s; past it, its 24-bit counter repeats ids",
	GivesUp:     "96 bits, no BIGINT; order within a second; uniqueness rests on 40 random bits for each process",
	RepeatsPast: (1 << 24) / 1e6,
}
