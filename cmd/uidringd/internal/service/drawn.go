package service

import (
	"sync"

	"github.com/uidring/uidring/uid"
)

// Drawn holds the ids that were drawn for a request, as few runs as they make.
type Drawn struct {
	Entry *Entry
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
	d.Entry, d.Runs, d.Buffer, d.n = nil, d.Runs[:0], d.Buffer[:0], 0
	if cap(d.Runs) <= mostRuns && cap(d.Buffer) <= mostBytes {
		pool.Put(d)
	}
}

// draw draws ids by claim until d has n. It may be called again after an error.
func (d *Drawn) draw(n int64, claim func(limit int64) (uid.Run, error)) error {
	for d.n < n {
		run, err := claim(n - d.n)
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
