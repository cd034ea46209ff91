package bench

import "github.com/gofrs/uuid/v5"

var gofrsV7 = Impl{
	Name:       "gofrs-uuid-v7",
	Package:    "github.com/gofrs/uuid/v5, `NewV7`",
	Kind:       Peer,
	ReadsClock: true,
	Cap:        "none",
	GivesUp:    "128 bits, no BIGINT; order only until its 12-bit counter wraps within a millisecond; unique by chance, though a good one",
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
