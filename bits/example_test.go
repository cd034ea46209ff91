package bits_test

import (
	"fmt"
	"time"

	"github.com/uidring/uidring/bits"
)

func ExampleParseLayout() {
	layout, err := bits.ParseLayout("41/10/12,epoch=2020-01-01,unit=1ms")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(layout)
	fmt.Println(layout.End().Format(time.DateOnly))

	_, err = bits.ParseLayout("28/22/14")
	fmt.Println(err)
	// Output:
	// 41/10/12,epoch=2020-01-01,unit=1ms
	// 2089-09-06
	// bits: invalid layout: TimeBits + WorkerBits + SequenceBits is 28 + 22 + 14 = 64, want at most 63
}

// All rows of a day, whoever made them, without a column for the time.
func ExampleAllocator_FirstID() {
	ids, err := bits.NewAllocator(bits.Default)
	if err != nil {
		fmt.Println(err)
		return
	}
	day := time.Date(2026, time.November, 20, 0, 0, 0, 0, time.UTC)
	first, err := ids.FirstID(day)
	if err != nil {
		fmt.Println(err)
		return
	}
	last, err := ids.LastID(day.Add(24*time.Hour - time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("SELECT * FROM orders WHERE id BETWEEN %d AND %d\n", first, last)
	// Output: SELECT * FROM orders WHERE id BETWEEN 958884090583449600 AND 961852771978444799
}

func ExampleNewAllocator() {
	ids, err := bits.NewAllocator(bits.Baidu)
	if err != nil {
		fmt.Println(err)
		return
	}
	parts, err := ids.Parse(896950744028951464)
	fmt.Println(parts.Time.Format(time.DateTime), parts.Worker, parts.Sequence, err)
	// Output: 2017-03-18 03:18:22 1603313 5032 <nil>
}
