package bench

import "github.com/rs/xid"

var xidPeer = Impl{
	Name:        "xid",
	Package:     "github.com/rs/xid",
	Kind:        Peer,
	ReadsClock:  true,
	Cap:         "16,777,216 / s; past it, its 24-bit counter repeats ids",
	GivesUp:     "96 bits, no BIGINT; order among processes within a second; uniqueness rests on 24 bits of a machine's hash and 16 of a pid",
	RepeatsPast: 1 << 24,
	New: func() (*Instance, error) {
		return &Instance{
			Batch: func(n int) (uint64, error) {
				var last uint64
				for range n {
					id := xid.New()
					last = uint64(id[len(id)-1])
				}
				return last, nil
			},
			One: func() (any, error) { return xid.New(), nil },
		}, nil
	},
}
