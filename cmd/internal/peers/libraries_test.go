package peers

import (
	"sync"
	"time"

	"github.com/bwmarrin/snowflake"
	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/sony/sonyflake"

	"github.com/uidring/uidring/cmd/internal/bench"
)

// libraries are those of others, as they come, and the counter that most people write
// first. Each loop calls its library directly.
func libraries() (rows []impl) {
	add := func(name string, loop bench.Loop) {
		open := func() (bench.Loop, func() error, error) { return loop, nil, nil }
		rows = append(rows, impl{Subject: bench.Subject{Name: name, Open: open}, base: bench.Add()})
	}
	node, err := snowflake.NewNode(1)
	if err != nil {
		panic(err)
	}
	flake, err := sonyflake.New(sonyflake.Settings{MachineID: func() (uint16, error) { return 1, nil }})
	if err != nil {
		panic(err)
	}
	var (
		mu   sync.Mutex
		last int64
	)
	add("uuid.NewV7", func(n int) error { return bench.Repeat(n, func() error { _, err := uuid.NewV7(); return err }) })
	add("uuid.NewRandom", func(n int) error { return bench.Repeat(n, func() error { _, err := uuid.NewRandom(); return err }) })
	add("ulid.Make", func(n int) error { return bench.Repeat(n, func() error { ulid.Make(); return nil }) })
	add("xid.New", func(n int) error { return bench.Repeat(n, func() error { xid.New(); return nil }) })
	add("snowflake", func(n int) error { return bench.Repeat(n, func() error { node.Generate(); return nil }) })
	add("sonyflake", func(n int) error { return bench.Repeat(n, func() error { _, err := flake.NextID(); return err }) })
	rows[len(rows)-1].phase = 40 * time.Millisecond // it makes 256 ids, and sleeps to the end of its 10 ms
	add("mutex-counter", func(n int) error { return bench.Repeat(n, func() error { mu.Lock(); last++; mu.Unlock(); return nil }) })
	return rows
}
