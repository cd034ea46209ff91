package segmenttest

import (
	"context"
	"fmt"

	"github.com/uidring/uidring/internal/processes"
	"github.com/uidring/uidring/uid/segment"
)

// addressVariable is set in the processes that the suite starts.
const addressVariable = "UIDRING_SEGMENTTEST_ADDRESS"

const (
	children = 6
	atOnce   = 9 // goroutines of a process that reserve at the same time
	each     = 3 // requests of a goroutine, one after the other
)

// Child reserves ranges and exits if the process was started by the suite. In any other process, it
// just returns. Call it first in TestMain. open connects to a [Backend]'s Address.
func Child(open func(address string) (segment.Store, error)) {
	processes.Child(addressVariable, func(address string, start func()) error {
		store, err := open(address)
		if err != nil {
			return err
		}
		start()
		return reserve(store)
	})
}

func reserve(store segment.Store) error {
	failed := make(chan error)
	for i := range atOnce {
		go func() {
			for j := range each {
				first, n, err := store.Reserve(context.Background(), tag, int64(1+(i+j)%7))
				if err == nil {
					fmt.Printf("%d-%d\n", first, first+n)
				}
				failed <- err
			}
		}()
	}
	for range atOnce * each {
		if err := <-failed; err != nil {
			return err
		}
	}
	return nil
}

// manyProcesses: six processes reserve, with 54 requests at the same time. Their ranges are
// disjoint and leave nothing out.
func manyProcesses(b *bench) {
	b.create(tag, 1, 10)
	var all []reserved
	total := int64(1)
	for _, printed := range processes.Run(b, processes.Self(b, children, addressVariable, b.Address)...) {
		for _, word := range printed {
			var r reserved
			if _, err := fmt.Sscanf(word, "%d-%d", &r.First, &r.End); err != nil {
				b.Fatalf("a process printed %q", word)
			}
			all = append(all, r)
			total += r.End - r.First
		}
	}
	if err := disjoint(all); err != nil {
		b.Error(err)
	}
	if now := b.next(); len(all) != children*atOnce*each || total != now {
		b.Errorf("%d ranges up to %d, and the counter is %d", len(all), total, now)
	}
}
