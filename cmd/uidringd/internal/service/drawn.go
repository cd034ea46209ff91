package service

import (
	"context"
	"sync"

	"github.com/uidring/uidring/cmd/uidringd/internal/catalog"
	"github.com/uidring/uidring/uid"
)

// Drawn holds the ids that were drawn for a request, as few runs as they make.
type Drawn struct {
	Entry *catalog.Entry
	Runs  []uid.Run

	// Buffer is for the answer's text. It is reused, as Runs is.
	Buffer []byte

	n int64 // ids in Runs
}

var pool = sync.Pool{New: func() any { return new(Drawn) }}

// Keep no more than this for the next request.
const (
	mostRuns  = 4 << 10
	mostBytes = 64 << 10
)

// Done ends the use of d, of its runs and of its buffer.
func (d *Drawn) Done() {
	d.from(nil)
	d.Buffer = d.Buffer[:0]
	if cap(d.Runs) <= mostRuns && cap(d.Buffer) <= mostBytes {
		pool.Put(d)
	}
}

// from drops the runs of another entry than e.
func (d *Drawn) from(e *catalog.Entry) {
	if d.Entry != e {
		d.Entry, d.Runs, d.n = e, d.Runs[:0], 0
	}
}

// draw draws ids of e until d has n. It waits as long as ctx allows. It may be called again
// after an error.
func (d *Drawn) draw(ctx context.Context, e *catalog.Entry, n int64) error {
	d.from(e)
	for d.n < n {
		run, err := e.Claim(ctx, n-d.n)
		if err != nil {
			return err
		}
		d.n += run.N
		if last := len(d.Runs) - 1; last >= 0 && d.Runs[last].First+uid.ID(d.Runs[last].N) == run.First {
			d.Runs[last].N += run.N
		} else {
			d.Runs = append(d.Runs, run)
		}
	}
	return nil
}
