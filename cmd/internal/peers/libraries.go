package main

import (
	"github.com/bwmarrin/snowflake"
	gofrs "github.com/gofrs/uuid/v5"
	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"
	"github.com/sony/sonyflake"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/uidring/uidring/cmd/internal/bench"
)

// libraries are the libraries of others.
var libraries = []impl{
	{
		Subject: bench.Subject{Name: "snowflake", Open: func() (*bench.Instance, error) {
			node, err := snowflake.NewNode(1)
			return &bench.Instance{Loop: func(n int) (uint64, error) {
				return bench.Repeat(n, func() (uint64, error) { return uint64(node.Generate()), nil })
			}}, err
		}},
		Package:    "github.com/bwmarrin/snowflake",
		Kind:       peer,
		ReadsClock: true,
		Cap:        "4,096 / ms, which is 244 ns an id; it spins under its mutex for the next",
		GivesUp:    "bursts; 1,024 workers, numbered by the caller",
	},
	{
		Subject: bench.Subject{Name: "sonyflake", Open: func() (*bench.Instance, error) {
			flake, err := sonyflake.New(sonyflake.Settings{
				MachineID: func() (uint16, error) { return 1, nil },
			})
			return &bench.Instance{Loop: func(n int) (uint64, error) {
				return bench.Repeat(n, func() (uint64, error) { return flake.NextID() })
			}}, err
		}},
		Package:    "github.com/sony/sonyflake",
		Kind:       peer,
		ReadsClock: true,
		Cap:        "256 / 10 ms, which is 39 µs an id; it sleeps under its mutex for the next",
		GivesUp:    "rate: 25,600 ids a second, bursts of 256; a clock set back puts it to sleep",
		Setup:      "a fixed MachineID, as the default looks for a private address",
	},
	{
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
	},
	{
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
	},
	{
		Subject: loop("google-uuid-v4", func(n int) (uint64, error) {
			return bench.Repeat(n, func() (uint64, error) { id, err := uuid.NewRandom(); return tail(id[:]), err })
		}),
		Package: "github.com/google/uuid, `NewRandom`",
		Kind:    peer,
		Cap:     "none",
		GivesUp: "128 bits, no BIGINT; no order and no time: a key that lands anywhere in an index; unique by chance, though a good one",
		Setup:   "without `EnableRandPool`, as it comes",
	},
	{
		Subject: loop("gofrs-uuid-v7", func(n int) (uint64, error) {
			return bench.Repeat(n, func() (uint64, error) { id, err := gofrs.NewV7(); return tail(id[:]), err })
		}),
		Package:    "github.com/gofrs/uuid/v5, `NewV7`",
		Kind:       peer,
		ReadsClock: true,
		Cap:        "none",
		GivesUp:    "128 bits, no BIGINT; order only until its 12-bit counter wraps within a millisecond; unique by chance, though a good one",
	},
	{
		Subject: loop("ulid", func(n int) (uint64, error) {
			return bench.Repeat(n, func() (uint64, error) { id := ulid.Make(); return tail(id[:]), nil })
		}),
		Package:    "github.com/oklog/ulid/v2, `Make`",
		Kind:       peer,
		ReadsClock: true,
		Cap:        "none",
		GivesUp:    "128 bits, no BIGINT; order among goroutines at the edge of a millisecond; unique by chance, from math/rand seeded with the time",
	},
	{
		Subject: loop("ksuid", func(n int) (uint64, error) {
			return bench.Repeat(n, func() (uint64, error) { id, err := ksuid.NewRandom(); return tail(id[:]), err })
		}),
		Package:    "github.com/segmentio/ksuid",
		Kind:       peer,
		ReadsClock: true,
		Cap:        "none",
		GivesUp:    "160 bits, no BIGINT; order within a second; unique by chance, though a good one",
	},
	{
		Subject: loop("objectid", func(n int) (uint64, error) {
			return bench.Repeat(n, func() (uint64, error) { id := bson.NewObjectID(); return tail(id[:]), nil })
		}),
		Package:     "go.mongodb.org/mongo-driver/v2/bson, `NewObjectID`",
		Kind:        peer,
		ReadsClock:  true,
		Cap:         "16,777,216 / s; past it, its 24-bit counter repeats ids",
		GivesUp:     "96 bits, no BIGINT; order within a second; uniqueness rests on 40 random bits for each process",
		RepeatsPast: (1 << 24) / 1e6,
	},
}
