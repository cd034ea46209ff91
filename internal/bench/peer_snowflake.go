package bench

import "github.com/bwmarrin/snowflake"

var snowflakePeer = Impl{
	Name:       "snowflake",
	Package:    "github.com/bwmarrin/snowflake",
	Kind:       Peer,
	ReadsClock: true,
	Cap:        "4,096 / ms, which is 244 ns an id; it spins under its mutex for the next",
	GivesUp:    "bursts; 1,024 workers, numbered by the caller",
	New: func() (*Instance, error) {
		node, err := snowflake.NewNode(1)
		if err != nil {
			return nil, err
		}
		return &Instance{
			Batch: func(n int) (uint64, error) {
				var last uint64
				for range n {
					last = uint64(node.Generate())
				}
				return last, nil
			},
			One: func() (any, error) { return node.Generate(), nil },
		}, nil
	},
}
