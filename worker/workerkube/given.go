package workerkube

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/uidring/uidring/internal/leaserow"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// This file allots numbers that were never given. Two objects cannot be written at once, so
// that the record of given numbers comes first, and the row second:
//
//  1. One compare-and-swap of the record takes a number from those that were never given. Only
//     the process whose swap is known to be done owns the number.
//  2. Only the owner creates the row as new. If a row is there, somebody else made it, and the
//     owner takes another number.
//  3. The owner puts the number back if the API server refused the create for certain: each
//     request to create the row had an answer that says so. Then no row was inserted, and none
//     follows.
//
// So a number is owned by one process at a time, is put back only if nobody ever had its row,
// and is in the record before its row exists. If a process ends between 1 and 2, or an answer is
// lost, the number is not given at all, or has a row that expires: a gap, and no repeat.
//
// A number that an Assigner chose has a mark of its own instead, which is made before the row:
// they may be many, and the record is one object. If the record says that there are marks, one
// list finds all marks and rows within the range. Then rule 1 takes a number above them, or
// one that was put back and has no mark.

// given is the record of given numbers.
type given struct {
	Next     map[int64]int64 `json:"next"`               // by the From of holders' ranges, the number above all that were given
	Back     []int64         `json:"back,omitempty"`     // numbers below that were put back, the least first
	Assigned bool            `json:"assigned,omitempty"` // there are marks
	Token    string          `json:"token"`              // of the last write
}

// next returns the number above all given numbers that matter for a range.
func (g given) next(within leasestore.Range) int64 {
	return leasestore.NewView(0, nil, g.Next, within).Next
}

// back returns the least number within a range that was put back, or -1.
func (g given) back(within leasestore.Range) int64 {
	i, _ := slices.BinarySearch(g.Back, within.From)
	if i < len(g.Back) && g.Back[i] <= within.To {
		return g.Back[i]
	}
	return -1
}

// take takes up to n numbers within a range that were never given, the least first.
func (g *given) take(within leasestore.Range, n int) (numbers []int64) {
	for range n {
		number := g.back(within)
		if number >= 0 {
			g.Back = slices.DeleteFunc(g.Back, func(back int64) bool { return back == number })
		} else if number = g.next(within); number <= within.To {
			g.Next[within.From] = number + 1
		} else {
			break
		}
		numbers = append(numbers, number)
	}
	return numbers
}

func (s *store) given(ctx context.Context) (*coordination.Lease, given, exchange, error) {
	g := given{}
	object, sent, err := s.get(ctx, s.prefix+givenSuffix)
	if err == nil && object.ResourceVersion != "" {
		if err = json.Unmarshal([]byte(object.Annotations[annotation]), &g); err != nil {
			err = s.foreign(object, fmt.Errorf("%q, want a record of given numbers as JSON: %w", object.Annotations[annotation], err))
		}
	}
	if g.Next == nil {
		g.Next = map[int64]int64{}
	}
	return object, g, sent, err
}

// edit changes the record by one compare-and-swap. It calls edit again after each write of
// another process.
func (s *store) edit(ctx context.Context, edit func(*given) (bool, error)) error {
	for {
		if err := s.crowd.wait(ctx); err != nil {
			return err
		}
		object, g, _, err := s.given(ctx)
		if err != nil {
			return err
		}
		switch change, err := edit(&g); {
		case err != nil:
			return err
		case !change:
			s.crowd.leave()
			return nil
		}
		g.Token = rand.Text()
		text, _ := json.Marshal(g) // numbers and strings cannot fail
		meta.SetMetaDataAnnotation(&object.ObjectMeta, annotation, string(text))
		began := time.Now()
		sent, err := s.put(ctx, object)
		if !conflicts(err) {
			if err == nil {
				s.crowd.leave()
			}
			return err
		}
		s.crowd.collided(time.Since(began))
		if sent.doubt { // the conflict may be that with a first try
			switch _, now, _, err := s.given(ctx); {
			case err != nil:
				return err
			case now.Token == g.Token:
				return nil
			default:
				return leasestore.Transient(errors.New("workerkube: the record of given numbers may have been written"))
			}
		}
	}
}

func (s *store) allot(ctx context.Context, turns []*leaserow.Turn) error {
	within := turns[0].Within
	for occupied := false; len(turns) > 0; {
		g, numbers, err := s.reserve(ctx, within, len(turns), occupied)
		if err != nil {
			return err
		}
		if len(numbers) == 0 {
			for _, t := range turns {
				t.Number = g.next(within)
			}
			return nil
		}
		unused := make([]bool, len(numbers))
		var creating sync.WaitGroup
		for i, number := range numbers {
			t := turns[i]
			t.Number, t.Write.Number = number, number
			creating.Go(func() { t.Done, unused[i], t.Err = s.create(ctx, t.Write) })
		}
		creating.Wait()
		left, back := turns[len(numbers):], []int64(nil)
		for i, t := range turns[:len(numbers)] {
			if unused[i] {
				back = append(back, t.Number)
			} else if !t.Done && t.Err == nil {
				left, occupied = append(left, t), true
			}
		}
		s.putBack(ctx, back)
		turns = left
	}
	return nil
}

// reserve takes up to n numbers within a range that were never given. occupied says that there
// are rows of numbers that the record takes for new.
func (s *store) reserve(ctx context.Context, within leasestore.Range, n int, occupied bool) (g given, numbers []int64, err error) {
	err = s.edit(ctx, func(now *given) (bool, error) {
		if err := s.complete(ctx, now, within, occupied); err != nil {
			return false, err
		}
		numbers, g = now.take(within, n), *now
		return len(numbers) > 0, nil
	})
	return g, numbers, err
}

// complete adds what a list shows to a record that does not know all numbers within a range.
func (s *store) complete(ctx context.Context, g *given, within leasestore.Range, wrong bool) error {
	if _, known := g.Next[within.From]; known && !wrong && !g.Assigned {
		return nil
	}
	found, err := s.search(ctx, 0, "")
	g.Next[within.From] = max(g.Next[within.From], leasestore.NewView(0, found.rows, found.marks, within).Next)
	g.Assigned = g.Assigned || len(found.marks) > 0
	for number := range found.marks { // while its owner put it back
		g.Back = slices.DeleteFunc(g.Back, func(back int64) bool { return back == number })
	}
	return err
}

// create makes the row of w.Number. refused says that no request to make it was or will be done.
func (s *store) create(ctx context.Context, w leasestore.Write) (done, refused bool, err error) {
	object := s.object(s.row(w.Number))
	write(object, w)
	sent, err := s.put(ctx, object)
	if err != nil && !sent.doubt && !apierrors.IsAlreadyExists(err) {
		return false, true, err
	}
	done, err = s.outcome(ctx, w, "", object, sent, err)
	return done, false, err
}

// putBack puts numbers back into the record. If that fails, they are lost.
func (s *store) putBack(ctx context.Context, numbers []int64) {
	if len(numbers) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = s.edit(ctx, func(g *given) (bool, error) {
		g.Back = append(g.Back, numbers...)
		slices.Sort(g.Back)
		return true, nil
	})
}

func (s *store) mark(number int64) *coordination.Lease {
	return s.object(s.prefix + givenSuffix + "." + strconv.FormatInt(number, 10))
}

// assign makes the row of w.Number, if there is none, after the number is recorded as given.
func (s *store) assign(ctx context.Context, w leasestore.Write) (done bool, err error) {
	alone := w.Within.From == w.Within.To
	err = s.edit(ctx, func(g *given) (change bool, err error) {
		if alone {
			change, g.Assigned = !g.Assigned, true
			return change, nil
		}
		if err := s.complete(ctx, g, w.Within, false); err != nil {
			return false, err
		}
		if i, back := slices.BinarySearch(g.Back, w.Number); back {
			change, g.Back = true, slices.Delete(g.Back, i, i+1)
		}
		change = change || g.Next[w.Within.From] <= w.Number
		g.Next[w.Within.From] = max(g.Next[w.Within.From], w.Number+1)
		return change, nil
	})
	if err == nil && alone {
		if _, err = s.put(ctx, s.mark(w.Number)); apierrors.IsAlreadyExists(err) {
			err = nil
		}
	}
	if err != nil {
		return false, err
	}
	done, _, err = s.create(ctx, w)
	return done, err
}
