package bench

import "github.com/oklog/ulid/v2"

var ulidPeer = Impl{
	Name:       "ulid",
	Package:    "github.com/oklog/ulid/v2, `Make`",
	Kind:       Peer,
	ReadsClock: true,
	Cap:        "none",
	GivesUp:    "128 bits, no BIGINT; order among goroutines at the edge of a millisecond; unique by chance, from math/rand seeded with the time",
	New: func() (*Instance, error) {
		return &Instance{
			Batch: func(n int) (uint64, error) {
				var last uint64
				for range n {
					id := ulid.Make()
					last = uint64(id[len(id)-1])
				}
				return last, nil
			},
			One: func() (any, error) { return ulid.Make(), nil },
		}, nil
	},
}
