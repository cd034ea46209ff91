package bench

import "github.com/segmentio/ksuid"

var ksuidPeer = Impl{
	Name:       "ksuid",
	Package:    "github.com/segmentio/ksuid",
	Kind:       Peer,
	ReadsClock: true,
	Cap:        "none",
	GivesUp:    "160 bits, no BIGINT; order within a second; unique by chance, though a good one",
	New: func() (*Instance, error) {
		return &Instance{
			Batch: func(n int) (uint64, error) {
				var last uint64
				for range n {
					id, err := ksuid.NewRandom()
					if err != nil {
						return last, err
					}
					last = uint64(id[len(id)-1])
				}
				return last, nil
			},
			One: func() (any, error) { return ksuid.NewRandom() },
		}, nil
	},
}
