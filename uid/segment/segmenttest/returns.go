package segmenttest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
)

// returns: a Return does nothing unless the counter is where the returned range ends, even if
// it arrives late or twice.
func returns(b *bench) {
	b.create(tag, 1, 10)
	b.want(b, tag, 100, 1, 100)
	give := func(first, next int64, want bool) {
		b.Helper()
		if done, err := b.Return(b.Context(), tag, first, next); done != want || err != nil {
			b.Fatalf("Return(%d, %d) = %v, %v, want %v", first, next, done, err, want)
		}
	}
	give(50, 100, false) // not where the counter is
	give(50, 102, false)
	give(31, 101, true)
	give(31, 101, false)
	b.want(b, tag, 70, 31, 70)
	b.want(b.Backend.Store(b.T), tag, 5, 101, 5)
	give(50, 101, false) // somebody else's range follows
	if now := b.next(); now != 106 {
		b.Errorf("the counter is %d, want 106", now)
	}
	give(101, 106, true)
	give(50, 101, true) // late, and nobody else has the ids
	give(50, 101, false)
	give(101, 106, false)
	b.want(b, tag, 5, 50, 5)
}

// returnRaces: ten clients reserve and return at random. They keep disjoint ranges.
func returnRaces(b *bench) {
	b.create(tag, 1, 10)
	var mu sync.Mutex
	var kept []reserved
	var clients sync.WaitGroup
	for range 10 {
		s := b.Backend.Store(b.T).(store)
		clients.Go(func() {
			for range 8 {
				n := 1 + rand.Int64N(50)
				first, n, err := s.Reserve(b.Context(), tag, n)
				if err != nil {
					b.Errorf("Reserve() = %v", err)
					return
				}
				r := reserved{First: first, End: first + n}
				used := first + rand.Int64N(n+1)
				done, err := s.Return(b.Context(), tag, used, r.End)
				if done && err == nil {
					r.End = used
				}
				mu.Lock()
				kept = append(kept, r)
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	if err := disjoint(kept); err != nil {
		b.Error(err)
	}
}

// lostAnswer: the write was done and its answer is lost. The client neither repeats the
// write nor uses its range, which is a gap.
func lostAnswer(b *bench) {
	b.create(tag, 1, 10)
	s, faults := b.Faulty(b.T)
	b.want(s, tag, 10, 1, 10)
	faults.LoseAnswer(func() {})
	if f, c, err := s.Reserve(b.Context(), tag, 10); err == nil {
		b.Fatalf("Reserve() = %d, %d without an answer", f, c)
	}
	faults.Heal()
	first, _, err := s.Reserve(b.Context(), tag, 10)
	if err != nil || first < 21 {
		b.Errorf("Reserve() = %d, %v, want ids from 21: those before may have been reserved", first, err)
	}
}

func lostWrite(b *bench) {
	b.create(tag, 1, 10)
	s, faults := b.Faulty(b.T)
	faults.LoseWrite()
	if f, c, err := s.Reserve(b.Context(), tag, 10); err == nil {
		b.Fatalf("Reserve() = %d, %d for a write that was not done", f, c)
	}
	if now := b.next(); now != 1 {
		b.Fatalf("the write was done: the counter is %d", now)
	}
	faults.Heal()
	b.want(s, tag, 10, 1, 10)
}

// lostReturn: the range is given back and the answer is lost. Another client reserves the
// same range, so the counter is where it was. A second attempt would return that client's
// range.
func lostReturn(b *bench) {
	b.create(tag, 1, 10)
	s, faults := b.Faulty(b.T)
	b.want(s, tag, 100, 1, 100)
	faults.LoseAnswer(func() { b.want(b, tag, 60, 41, 60) })
	done, err := s.(store).Return(b.Context(), tag, 41, 101)
	if done || err == nil {
		b.Errorf("Return() = %v, %v without an answer", done, err)
	}
	if now := b.next(); now != 101 {
		b.Errorf("the counter is %d, want 101: it was set back twice", now)
	}
}

// reserved is a range of ids, up to but not including End.
type reserved struct{ First, End int64 }

func disjoint(all []reserved) error {
	all = slices.DeleteFunc(all, func(r reserved) bool { return r.First == r.End })
	slices.SortFunc(all, func(a, b reserved) int { return cmp.Compare(a.First, b.First) })
	for i := 1; i < len(all); i++ {
		if all[i].First < all[i-1].End {
			return fmt.Errorf("%v and %v share ids", all[i-1], all[i])
		}
	}
	return nil
}
