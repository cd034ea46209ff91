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
// first.
func libraries() []impl {
	var rows []impl
	add := func(name string, open func() (bench.Loop, error)) {
		rows = append(rows, impl{Subject: bench.Subject{Name: name, Open: func() (bench.Loop, func() error, error) {
			loop, err := open()
			return loop, nil, err
		}}, base: bench.Add()})
	}
	add("uuid.NewV7", func() (bench.Loop, error) {
		return func(n int) error { return bench.Repeat(n, func() error { _, err := uuid.NewV7(); return err }) }, nil
	})
	add("uuid.NewRandom", func() (bench.Loop, error) {
		return func(n int) error { return bench.Repeat(n, func() error { _, err := uuid.NewRandom(); return err }) }, nil
	})
	add("ulid.Make", func() (bench.Loop, error) {
		return func(n int) error { return bench.Repeat(n, func() error { ulid.Make(); return nil }) }, nil
	})
	add("xid.New", func() (bench.Loop, error) {
		return func(n int) error { return bench.Repeat(n, func() error { xid.New(); return nil }) }, nil
	})
	add("snowflake", func() (bench.Loop, error) {
		node, err := snowflake.NewNode(1)
		return func(n int) error { return bench.Repeat(n, func() error { node.Generate(); return nil }) }, err
	})
	add("sonyflake", func() (bench.Loop, error) {
		flake, err := sonyflake.New(sonyflake.Settings{MachineID: func() (uint16, error) { return 1, nil }})
		return func(n int) error { return bench.Repeat(n, func() error { _, err := flake.NextID(); return err }) }, err
	})
	rows[len(rows)-1].phase = 40 * time.Millisecond // it makes 256 ids, and sleeps to the end of its 10 ms
	add("mutex-counter", func() (bench.Loop, error) {
		var (
			mu   sync.Mutex
			last int64
		)
		return func(n int) error {
			return bench.Repeat(n, func() error { mu.Lock(); last++; mu.Unlock(); return nil })
		}, nil
	})
	return rows
}
