package main

import (
	"github.com/sony/sonyflake"

	"github.com/uidring/uidring/cmd/internal/bench"
)

var sonyflakePeer = impl{
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
}
