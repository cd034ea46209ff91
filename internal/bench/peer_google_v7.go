package bench

import "github.com/google/uuid"

var googleV7 = Impl{
	Name:       "google-uuid-v7",
	Package:    "github.com/google/uuid, `NewV7`",
	Kind:       Peer,
	ReadsClock: true,
	Cap:        "none: past 3.9 million / s its stamps run ahead of the clock",
	GivesUp:    "128 bits, no BIGINT; unique by chance, though a good one; no worker to read back",
	Setup:      "without `EnableRandPool`, as it comes",
	New: func() (*Instance, error) {
		return &Instance{
			Batch: func(n int) (uint64, error) {
				var last uint64
				for range n {
					id, err := uuid.NewV7()
					if err != nil {
						return last, err
					}
					last = uint64(id[len(id)-1])
				}
				return last, nil
			},
			One: func() (any, error) { return uuid.NewV7() },
		}, nil
	},
}
