package segmenttest

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/uidring/uidring/uid/segment"
)

func ranges(b *bench) {
	b.create(tag, 1, 1000)
	next := int64(1)
	for _, n := range []int64{1, 1, 2, 3, 7, 1000, 12345, 1 << 20, 1 << 40, 1} {
		b.want(b, tag, n, next, n)
		next += n
	}
	b.want(b.Backend.Store(b.T), tag, 5, next, 5)
	if b.String() == "" {
		b.Error("String() is empty")
	}
}

func ownStep(b *bench) {
	b.create(tag, 500, 70)
	first, count, err := b.Reserve(b.Context(), tag, 0)
	if first != 500 || count < 1 || err != nil {
		b.Fatalf("Reserve(0) = %d, %d, %v, want ids from 500", first, count, err)
	}
	counters, err := b.List(b.Context())
	if err != nil || len(counters) != 1 {
		b.Fatalf("List() = %v, %v, want one", counters, err)
	}
	if step := counters[0].Step; step != 0 && step != count {
		b.Errorf("the step is %d, and %d ids were reserved", step, count)
	}
}

func tags(b *bench) {
	names := []string{"a", "b", "with blank", `"quoted" 'twice' \ %s ? $1 {x}`, "名前/é", strings.Repeat("x", segment.MaxTag)}
	for _, name := range names {
		b.create(name, 1, 10)
	}
	for round := range int64(3) {
		for _, name := range names {
			b.want(b, name, 10, 1+10*round, 10)
		}
	}
}

func unknownTag(b *bench) {
	for _, there := range []bool{false, true} { // without and with a table
		if there {
			b.create("another", 1, 10)
		}
		for range 2 {
			b.refused(10, segment.ErrUnknownTag)
		}
		if _, err := b.Raise(b.Context(), tag, 10); !errors.Is(err, segment.ErrUnknownTag) {
			b.Errorf("Raise() = %v, want ErrUnknownTag", err)
		}
		if done, _ := b.Return(b.Context(), tag, 1, 10); done {
			b.Error("Return() of an unknown tag is done")
		}
	}
	if counters, err := b.List(b.Context()); len(counters) != 1 || err != nil {
		b.Errorf("List() = %v, %v: a request made a counter", counters, err)
	}
}

func createOnce(b *bench) {
	errs := make(chan error)
	for range 8 {
		s := b.Backend.Store(b.T).(store)
		go func() { errs <- s.Create(b.Context(), tag, 7, 10) }()
	}
	made := 0
	for range 8 {
		if err := <-errs; err == nil {
			made++
		} else if !errors.Is(err, segment.ErrTagExists) {
			b.Errorf("Create() = %v, want ErrTagExists", err)
		}
	}
	if made != 1 {
		b.Errorf("%d of 8 made the counter, want 1", made)
	}
	b.want(b, tag, 3, 7, 3)
	if err := b.Create(b.Context(), tag, 1, 10); !errors.Is(err, segment.ErrTagExists) || b.next() != 10 {
		b.Errorf("Create() = %v of a counter in use, now at %d", err, b.next())
	}
}

func list(b *bench) {
	for _, name := range []string{"b", "c", "a"} {
		b.create(name, 5, 20)
	}
	b.want(b, "b", 100, 5, 100)
	counters, err := b.List(b.Context())
	if err != nil || len(counters) != 3 {
		b.Fatalf("List() = %v, %v", counters, err)
	}
	for i, want := range []segment.CounterInfo{{Tag: "a", Next: 5}, {Tag: "b", Next: 105}, {Tag: "c", Next: 5}} {
		c := counters[i]
		if c.Tag != want.Tag || c.Next != want.Next {
			b.Errorf("List()[%d] = %+v, want %+v", i, c, want)
		}
		if old := time.Since(c.Updated); !c.Updated.IsZero() && (old < -time.Hour || old > time.Hour) {
			b.Errorf("%q was updated at %v, want about now", c.Tag, c.Updated)
		}
	}
}

func raise(b *bench) {
	b.create(tag, 100, 10)
	for _, c := range []struct{ next, want int64 }{{50, 100}, {100, 100}, {101, 101}, {5000, 5000}, {1, 5000}} {
		if now, err := b.Raise(b.Context(), tag, c.next); now != c.want || err != nil {
			b.Errorf("Raise(%d) = %d, %v, want %d", c.next, now, err, c.want)
		}
	}
	b.want(b, tag, 1, 5000, 1)
}

func overflow(b *bench) {
	b.create(tag, math.MaxInt64-10, 10)
	for _, n := range []int64{11, 1000, math.MaxInt64} {
		b.refused(n, segment.ErrUsedUp)
	}
	b.want(b, tag, 4, math.MaxInt64-10, 4)
	b.want(b, tag, 6, math.MaxInt64-6, 6)
	b.refused(1, segment.ErrUsedUp)
}

// spent: a counter without ids keeps its tag, and nothing gives it ids.
func spent(b *bench) {
	b.create(tag, math.MaxInt64, 10)
	for _, n := range []int64{0, 1} {
		b.refused(n, segment.ErrUsedUp)
	}
	if err := b.Create(b.Context(), tag, 1, 10); !errors.Is(err, segment.ErrTagExists) {
		b.Errorf("Create() = %v, want ErrTagExists", err)
	}
	if counters, err := b.List(b.Context()); err != nil || len(counters) != 1 || counters[0].Next != math.MaxInt64 {
		b.Errorf("List() = %+v, %v, want a counter at its end", counters, err)
	}
}

func contextEnded(b *bench) {
	b.create(tag, 1, 10)
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	if _, _, err := b.Reserve(ctx, tag, 5); !errors.Is(err, context.Canceled) {
		b.Errorf("Reserve() = %v, want context.Canceled", err)
	}
	if _, err := b.Return(ctx, tag, 0, 1); !errors.Is(err, context.Canceled) {
		b.Errorf("Return() = %v, want context.Canceled", err)
	}
}
