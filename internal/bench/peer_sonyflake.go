package bench

import "github.com/sony/sonyflake"

var sonyflakePeer = Impl{
	Name:       "sonyflake",
	Package:    "github.com/sony/sonyflake",
	Kind:       Peer,
	ReadsClock: true,
	Cap:        "256 / 10 ms, which is 39 µs an id; it sleeps under its mutex for the next",
	GivesUp:    "rate: 25,600 ids a second, bursts of 256; a clock set back puts it to sleep",
	Setup:      "a fixed MachineID, as the default looks for a private address",
	New: func() (*Instance, error) {
		flake, err := sonyflake.New(sonyflake.Settings{
			MachineID: func() (uint16, error) { return 1, nil },
		})
		if err != nil {
			return nil, err
		}
		return &Instance{
			Batch: func(n int) (uint64, error) {
				var last uint64
				for range n {
					id, err := flake.NextID()
					if err != nil {
						return last, err
					}
					last = id
				}
				return last, nil
			},
			One: func() (any, error) { return flake.NextID() },
		}, nil
	},
}
