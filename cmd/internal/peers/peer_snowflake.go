package main

import (
	"github.com/bwmarrin/snowflake"

	"github.com/uidring/uidring/cmd/internal/bench"
)

var snowflakePeer = impl{
	Subject: bench.Subject{Name: "snowflake", Open: func() (*bench.Instance, error) {
		node, err := snowflake.NewNode(1)
		return &bench.Instance{Loop: func(n int) (uint64, error) {
			return bench.Repeat(n, func() (uint64, error) { return uint64(node.Generate()), nil })
		}}, err
	}},
	Package:    "github.com/bwmarrin/snowflake",
	Kind:       peer,
	ReadsClock: true,
	Cap:        "4,096 / ms, which is 244 ns an id; it spins under its mutex for the next",
	GivesUp:    "bursts; 1,024 workers, numbered by the caller",
}
