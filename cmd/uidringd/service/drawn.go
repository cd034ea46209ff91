package service

import (
	"context"
	"sync"

	"github.com/uidring/uidring/cmd/uidringd/catalog"
	"github.com/uidring/uidring/uid"
)

// Run is a run of consecutive ids: First, First+1, and so on.
type Run struct {
	First uid.ID
	Count int64
}

// Drawn holds the ids that were drawn for a request, as few runs as they make.
type Drawn struct {
	Entry *catalog.Entry
	Runs  []Run

	// Buffer is for the answer's text. It is reused, as Runs is.
	Buffer []byte

	ids [512]uid.ID
}

var pool = sync.Pool{New: func() any { return new(Drawn) }}

// Keep no more than this for the next request.
const (
	mostRuns  = 4 << 10
	mostBytes = 64 << 10
)

// Done ends the use of d, of its runs and of its buffer.
func (d *Drawn) Done() {
	d.Entry, d.Runs, d.Buffer = nil, d.Runs[:0], d.Buffer[:0]
	if cap(d.Runs) <= mostRuns && cap(d.Buffer) <= mostBytes {
		pool.Put(d)
	}
}

// draw waits for n ids as long as ctx allows.
func (d *Drawn) draw(ctx context.Context, n int) error {
	d.Runs = d.Runs[:0]
	for n > 0 {
		filled, err := d.Entry.WaitN(ctx, d.ids[:min(n, len(d.ids))])
		if err != nil {
			return err
		}
		d.add(d.ids[:filled])
		n -= filled
	}
	return nil
}

func (d *Drawn) add(ids []uid.ID) {
	for _, id := range ids {
		if last := len(d.Runs) - 1; last >= 0 && d.Runs[last].First+uid.ID(d.Runs[last].Count) == id {
			d.Runs[last].Count++
		} else {
			d.Runs = append(d.Runs, Run{id, 1})
		}
	}
}
