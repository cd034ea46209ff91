package bench

import "github.com/google/uuid"

var googleV4 = Impl{
	Name:    "google-uuid-v4",
	Package: "github.com/google/uuid, `NewRandom`",
	Kind:    Peer,
	Cap:     "none",
	GivesUp: "128 bits, no BIGINT; no order and no time: a key that lands anywhere in an index; unique by chance, though a good one",
	Setup:   "without `EnableRandPool`, as it comes",
	New: func() (*Instance, error) {
		return &Instance{
			Batch: func(n int) (uint64, error) {
				var last uint64
				for range n {
					id, err := uuid.NewRandom()
					if err != nil {
						return last, err
					}
					last = uint64(id[len(id)-1])
				}
				return last, nil
			},
			One: func() (any, error) { return uuid.NewRandom() },
		}, nil
	},
}
