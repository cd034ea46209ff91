package workerkube

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"

	coordination "k8s.io/api/coordination/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/uidring/uidring/internal/leaserow"
	"github.com/uidring/uidring/worker/lease"
)

// This file allots numbers that were never given. Two objects cannot be written at once. In
// small bounds the row comes first, so that a create that is refused, or a process that ends
// before it counts the number, loses none: who finds the row counts it. Elsewhere the count
// comes first, so that creates of several processes do not collide; a number is lost then. The
// count is never lowered, and every number is counted before its holder has it.

// few is the size of small bounds.
const few = 1 << 12

// count is the name of the count of given numbers for holders whose bounds begin at from.
func (s *Store) count(from int64) string { return s.prefix + givenInfix + strconv.FormatInt(from, 10) }

// counted returns a count and its object.
func (s *Store) counted(ctx context.Context, from int64) (*coordination.Lease, counted, error) {
	object, _, err := s.get(ctx, s.count(from))
	if err != nil {
		return nil, counted{}, err
	}
	c, err := s.parseCounted(object)
	return object, c, err
}

// ranges returns where the bounds of holders begin that may have several numbers. The counts
// of assigned numbers are not among them: there may be many.
func (s *Store) ranges(ctx context.Context) (object *coordination.Lease, froms []int64, err error) {
	for {
		if object, _, err = s.get(ctx, s.prefix+rangesSuffix); err != nil {
			return nil, nil, err
		}
		if object.ResourceVersion != "" {
			if err = json.Unmarshal([]byte(object.Annotations[annotation]), &froms); err != nil {
				err = s.foreign(object, fmt.Errorf("%q, want a list of numbers as JSON: %w", object.Annotations[annotation], err))
			}
			return object, froms, err
		}
		_, _, given, err := s.search(ctx, 0) // of a build that had no such object
		if err != nil {
			return nil, nil, err
		}
		for from := range given {
			froms = append(froms, from)
		}
		if err := s.setRanges(ctx, object, froms); !conflicts(err) {
			return object, froms, err
		}
	}
}

func (s *Store) setRanges(ctx context.Context, object *coordination.Lease, froms []int64) error {
	text, _ := json.Marshal(froms) // numbers cannot fail
	meta.SetMetaDataAnnotation(&object.ObjectMeta, annotation, string(text))
	_, err := s.put(ctx, object)
	return err
}

// next returns the least number within bounds that was never given.
func (s *Store) next(ctx context.Context, within lease.Bounds) (int64, error) {
	_, froms, err := s.ranges(ctx)
	if err != nil {
		return 0, err
	}
	given := map[int64]int64{}
	for _, from := range froms {
		if from <= within.To {
			_, c, err := s.counted(ctx, from)
			if err != nil {
				return 0, err
			}
			given[from] = c.Next
		}
	}
	return lease.NewView(0, nil, given, within).Next, nil
}

// raise raises a count to to, unless it is higher than low already. It reports whether it
// raised the count.
func (s *Store) raise(ctx context.Context, w lease.Write, low, to int64) (raised bool, err error) {
	for {
		object, found, err := s.counted(ctx, w.Within.From)
		if err != nil || found.Next > low {
			return false, err
		}
		if object.ResourceVersion == "" && w.Within.From < w.Within.To {
			ranges, froms, err := s.ranges(ctx)
			if err == nil && !slices.Contains(froms, w.Within.From) {
				err = s.setRanges(ctx, ranges, append(froms, w.Within.From))
			}
			if err != nil && !conflicts(err) {
				return false, err
			}
			if conflicts(err) {
				continue
			}
		}
		text, _ := json.Marshal(counted{to, w.Token}) // numbers and strings cannot fail
		meta.SetMetaDataAnnotation(&object.ObjectMeta, annotation, string(text))
		if _, err := s.put(ctx, object); !conflicts(err) {
			return err == nil, err
		}
		if err := s.fresh.Collided(ctx); err != nil {
			return false, err
		}
	}
}

// allot makes rows of numbers that were never given.
func (s *Store) allot(ctx context.Context, turns []*leaserow.Turn) error {
	within := turns[0].Within
	for tries := 0; len(turns) > 0; tries++ {
		if tries > 0 {
			if err := s.fresh.Collided(ctx); err != nil {
				return err
			}
		}
		next, err := s.next(ctx, within)
		if err != nil {
			return err
		}
		if next > within.To {
			for _, t := range turns {
				t.Number = next
			}
			return nil
		}
		allot := s.allotMany
		if within.To-within.From < few {
			allot = s.allotFew
		}
		if turns, err = allot(ctx, turns, next); err != nil {
			return err
		}
	}
	return nil
}

// allotFew makes rows from next on, and counts them. It returns the turns that have none.
func (s *Store) allotFew(ctx context.Context, turns []*leaserow.Turn, next int64) (left []*leaserow.Turn, err error) {
	first, within := next, turns[0].Within
	for made := true; made && len(turns) > 0 && next <= within.To; next++ {
		t := turns[0]
		if made, t.Err = s.make(ctx, t, next); t.Err != nil {
			turns = turns[1:]
			break
		}
		if made {
			left = append(left, t)
			turns = turns[1:]
		}
	}
	if next > first { // numbers that others have are counted too
		_, err = s.raise(ctx, lease.Write{Within: within, Token: "few"}, next-1, next)
	}
	for _, t := range left {
		t.Done, t.Err = err == nil, err
	}
	return turns, err
}

// allotMany counts numbers from next on, and makes their rows. It returns the turns that have
// none.
func (s *Store) allotMany(ctx context.Context, turns []*leaserow.Turn, next int64) (left []*leaserow.Turn, err error) {
	many := min(int64(len(turns)), turns[0].Within.To-next+1)
	raised, err := s.raise(ctx, turns[0].Write, next, next+many)
	if err != nil || !raised {
		return turns, err
	}
	var making sync.WaitGroup
	for i, t := range turns[:many] {
		making.Go(func() { t.Done, t.Err = s.make(ctx, t, next+int64(i)) })
	}
	making.Wait()
	for _, t := range turns {
		if !t.Done && t.Err == nil {
			left = append(left, t)
		}
	}
	return left, nil
}

// make makes the row of a number, unless there is one, or the number was assigned.
func (s *Store) make(ctx context.Context, t *leaserow.Turn, number int64) (bool, error) {
	if number != t.Within.From {
		if _, assigned, err := s.counted(ctx, number); err != nil || assigned.Next > number {
			return false, err
		}
	}
	t.Number, t.Write.Number = number, number
	return s.create(ctx, t.Write)
}

// create makes the row of w.Number if there is none.
func (s *Store) create(ctx context.Context, w lease.Write) (done bool, err error) {
	object := s.object(s.row(w.Number))
	write(object, w)
	sent, err := s.put(ctx, object)
	return s.settle(ctx, w, "", object, sent, err)
}
