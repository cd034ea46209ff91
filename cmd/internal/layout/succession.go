package layout

import (
	"fmt"
	"io"
	"time"

	"github.com/uidring/uidring/bits"
)

// succession is what there is to say of the ids of two layouts.
type succession struct {
	Next    string     `json:"next"`
	From    time.Time  `json:"from"`
	Used    int64      `json:"used"`
	Ordered bool       `json:"ordered"`                 // every new id is greater than every old one
	Meet    *period    `json:"meet,omitempty"`          // when ids can collide; nil is never
	Fresh   *numbering `json:"fresh_numbers,omitempty"` // nil if there are none
}

type period struct {
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
}

type numbering struct {
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

func newSuccession(old, next bits.Layout, since, from time.Time, used int64) (*succession, error) {
	s, err := bits.NewSuccession(old, next, since, from)
	if err != nil {
		return nil, err
	}
	answer := &succession{Next: next.String(), From: from, Used: used, Ordered: s.Ordered}
	if !s.From.IsZero() {
		answer.Meet = &period{s.From, s.Until}
	}
	if first, last, ok := s.FreshNumbers(used); ok {
		answer.Fresh = &numbering{first, last}
	}
	return answer, nil
}

func (s *succession) write(w io.Writer) {
	fmt.Fprintf(w, "\nnext\t%s from %s on\n", s.Next, s.From.Format(time.RFC3339Nano))
	switch {
	case s.Ordered:
		fmt.Fprintf(w, "equal\tnever: every new id is greater than every old one\n")
		return
	case s.Meet == nil:
		fmt.Fprintf(w, "equal\tnever, but new ids are smaller than old ones\n")
		return
	}
	fmt.Fprintf(w, "equal\tnew ids stamped from %s to %s can equal old ones\n",
		s.Meet.From.Format(time.RFC3339Nano), s.Meet.Until.Format(time.RFC3339Nano))
	if s.Fresh == nil {
		fmt.Fprintf(w, "numbers\tnone keeps new ids apart from those under the numbers 0 to %d\n", s.Used)
		return
	}
	fmt.Fprintf(w, "numbers\t%d to %d keep new ids apart from those under the numbers 0 to %d\n", s.Fresh.First, s.Fresh.Last, s.Used)
}
