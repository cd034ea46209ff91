package bench

import (
	"fmt"

	"github.com/uidring/uidring/uid"
)

// The loops are functions, not literals: inside a literal within a function that
// is itself inlined the compiler leaves Next alone, where it inlines it for a
// user. They are written out for each type, as a call through an interface or a
// type parameter is not what a user's call costs.

func cachedLoop(gen *uid.Cached, n int) (uint64, error) {
	var last uint64
	for range n {
		id, err := gen.Next()
		if err != nil {
			return last, err
		}
		last = uint64(id)
	}
	return last, nil
}

func defaultLoop(gen *uid.Default, n int) (uint64, error) {
	var last uint64
	for range n {
		id, err := gen.Next()
		if err != nil {
			return last, err
		}
		last = uint64(id)
	}
	return last, nil
}

func cachedManyLoop(gen *uid.Cached, n int) (uint64, error) {
	var (
		last uint64
		ids  [BatchSize]uid.ID
	)
	for range n {
		got, err := gen.NextN(ids[:])
		if err != nil {
			return last, err
		}
		if got != BatchSize {
			return last, fmt.Errorf("bench: NextN gave %d of %d ids", got, BatchSize)
		}
		last = uint64(ids[BatchSize-1])
	}
	return last, nil
}

func defaultManyLoop(gen *uid.Default, n int) (uint64, error) {
	var (
		last uint64
		ids  [BatchSize]uid.ID
	)
	for range n {
		got, err := gen.NextN(ids[:])
		if err != nil {
			return last, err
		}
		if got != BatchSize {
			return last, fmt.Errorf("bench: NextN gave %d of %d ids", got, BatchSize)
		}
		last = uint64(ids[BatchSize-1])
	}
	return last, nil
}
