package bench

import "go.mongodb.org/mongo-driver/v2/bson"

var objectID = Impl{
	Name:        "objectid",
	Package:     "go.mongodb.org/mongo-driver/v2/bson, `NewObjectID`",
	Kind:        Peer,
	ReadsClock:  true,
	Cap:         "16,777,216 / s; past it, its 24-bit counter repeats ids",
	GivesUp:     "96 bits, no BIGINT; order within a second; uniqueness rests on 40 random bits for each process",
	RepeatsPast: 1 << 24,
	New: func() (*Instance, error) {
		return &Instance{
			Batch: func(n int) (uint64, error) {
				var last uint64
				for range n {
					id := bson.NewObjectID()
					last = uint64(id[len(id)-1])
				}
				return last, nil
			},
			One: func() (any, error) { return bson.NewObjectID(), nil },
		}, nil
	},
}
