package bits_test

import (
	"fmt"
	"log"
	"time"

	"github.com/uidring/uidring/bits"
)

func ExampleParseLayout() {
	layout, err := bits.ParseLayout("41/10/12,epoch=2020-01-01,unit=1ms")
	if err != nil {
		log.Fatal(err)
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

// The ids whose own time lies in a day. Ids of uid.Cached may have been made up to MaxAge
// later or MaxBorrow earlier: its method Range returns a range that has all ids made on
// the day, and others.
func ExampleAllocator_FirstID() {
	ids, err := bits.NewAllocator(bits.Registry())
	if err != nil {
		log.Fatal(err)
	}
	day := time.Date(2026, time.November, 20, 0, 0, 0, 0, time.UTC)
	first, err := ids.FirstID(day)
	if err != nil {
		log.Fatal(err)
	}
	last, err := ids.LastID(day.AddDate(0, 0, 1).Add(-1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("SELECT * FROM orders WHERE id BETWEEN %d AND %d\n", first, last)
	// Output: SELECT * FROM orders WHERE id BETWEEN 958884090583449600 AND 961852771978444799
}

func ExampleNewAllocator() {
	ids, err := bits.NewAllocator(bits.Baidu())
	if err != nil {
		log.Fatal(err)
	}
	parts, err := ids.Parse(896950744028951464)
	fmt.Println(parts.Time.Format(time.DateTime), parts.Worker, parts.Sequence, err)
	// Output: 2017-03-18 03:18:22 1603313 5032 <nil>
}

// Snowflake's users divide its worker number into a datacenter and a machine.
func ExampleAllocator_JoinWorker() {
	layout, err := bits.ParseLayout("41/datacenter:5+machine:5/12,epoch=2026-01-01,unit=1ms")
	if err != nil {
		log.Fatal(err)
	}
	ids, err := bits.NewAllocator(layout)
	if err != nil {
		log.Fatal(err)
	}
	worker, err := ids.JoinWorker(3, 17) // for lease.NewStatic
	fmt.Println(worker, err)
	parts, err := ids.SplitWorker(worker)
	fmt.Println(parts, err)
	_, err = ids.JoinWorker(3, 32)
	fmt.Println(err)
	fmt.Println(ids.WorkerRange("datacenter=3")) // for lease.Config.Numbers
	// Output:
	// 113 <nil>
	// [{datacenter 5 3} {machine 5 17}] <nil>
	// bits: out of range: machine is 32, want 0 to 31
	// 96 127 <nil>
}

// The stock layout of uid-generator has ended. Ids of the layout for a Registry differ from
// its ids if their worker numbers were never used before.
func ExampleNewSuccession() {
	began := time.Date(2018, time.May, 20, 0, 0, 0, 0, time.UTC) // the oldest id
	ended := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	s, err := bits.NewSuccession(bits.Baidu(), bits.Registry(), began, ended)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("every new id is greater:", s.Ordered)
	fmt.Println("ids can collide from", s.From.Format(time.DateOnly), "to", s.Until.Format(time.DateOnly))
	fmt.Println(s.FreshNumbers(5000))
	// Output:
	// every new id is greater: false
	// ids can collide from 2028-01-01 to 2034-07-04
	// 5001 4194303 true
}

func ExampleParseVesta() {
	parts, err := bits.ParseVesta(6917529028689663077)
	fmt.Println(parts.Time, parts.Worker, parts.Sequence, parts.Type, parts.Method, err)
	// Output: 2014-12-31 16:00:01 +0000 UTC 101 5 1 2 <nil>
}

// Parse and Compose are opposites. With the sequence 0, Compose returns the first id of the
// tick and worker.
func ExampleParts() {
	ids, err := bits.NewAllocator(bits.Snowflake())
	if err != nil {
		log.Fatal(err)
	}
	parts, err := ids.Parse(1541815603606036487)
	fmt.Println(parts.Time.Format(time.StampMilli), parts.Tick, parts.Worker, parts.Sequence, err)
	fmt.Println(ids.Compose(parts.Tick, parts.Worker, 0))
	// Output:
	// Jun 28 16:07:40.105 367597485448 378 7 <nil>
	// 1541815603606036480 <nil>
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
