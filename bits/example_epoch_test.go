package bits_test

import (
	"fmt"
	"time"

	"github.com/uidring/uidring/bits"
)

// A date is midnight in UTC. The midnight of another zone is written with its
// offset.
func ExampleParseEpoch() {
	for _, text := range []string{"2016-05-20", "2016-05-20T00:00:00+08:00", "20 May 2016"} {
		epoch, err := bits.ParseEpoch(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(epoch)
	}
	// Output:
	// 2016-05-20 00:00:00 +0000 UTC
	// 2016-05-19 16:00:00 +0000 UTC
	// bits: invalid layout: epoch "20 May 2016" is neither a date, such as 2026-01-01, nor an instant in RFC 3339
}

// Many ids a millisecond for a few hundred workers, until the next century.
func ExampleLayout() {
	layout := bits.Layout{
		TimeBits:     42,
		WorkerBits:   9,
		SequenceBits: 12,
		Epoch:        time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC),
		Unit:         time.Millisecond,
	}
	fmt.Println(layout.Validate(), layout.Bits())
	fmt.Println(layout, "ends in", layout.End().Year())
	// Output:
	// <nil> 63
	// 42/9/12,epoch=2026-01-01,unit=1ms ends in 2165
}
