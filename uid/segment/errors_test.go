package segment_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

// All faults of a config are named at once, and what follows from another is not.
func TestConfigFaults(t *testing.T) {
	for _, c := range []struct {
		config segment.Config
		want   []string
	}{
		{segment.Config{Step: -1}, []string{"Step is -1"}},
		{segment.Config{Step: segment.MaxStep + 1}, []string{"Step is 1099511627777"}},
		{segment.Config{MaxStep: -5}, []string{"MaxStep is -5"}},
		{segment.Config{MinStep: 10, MaxStep: 5}, []string{"MinStep is 10, want 1 to MaxStep (5)"}},
		{segment.Config{Step: 3, MinStep: 10}, []string{"Step is 3, want MinStep to MaxStep, 10 to"}},
		{segment.Config{Step: 30, MaxStep: 10}, []string{"Step is 30"}},
		{segment.Config{Step: 30, MinStep: 1, MaxStep: 10}, []string{"Step is 30, want MinStep to MaxStep, 1 to 10"}},
		{segment.Config{Ahead: -1, LoadAt: 100, LoadTimeout: -time.Second, Limit: -7},
			[]string{"Ahead is -1ns", "LoadAt is 100", "LoadTimeout is -1s", "Limit is -7"}},
		{segment.Config{Limit: math.MaxInt64}, []string{"Limit is 9223372036854775807, want 1 to 9223372036854775806"}},
		{segment.Config{LoadAt: -1}, []string{"LoadAt is -1, want 1 to 99"}},
	} {
		_, err := segment.New(t.Context(), new(segmenttest.Memory), "orders", c.config)
		wantErr(t, err, uid.ErrConfig, c.want...)
		if n := strings.Count(fmt.Sprint(err), ", want "); n != len(c.want) {
			t.Errorf("New(%+v) = %v, want %d faults", c.config, err, len(c.want))
		}
	}
	_, err := segment.New(t.Context(), nil, "orders", segment.Config{})
	wantErr(t, err, uid.ErrConfig)
	_, err = segment.New(t.Context(), plain{new(segmenttest.Memory)}, "orders", segment.Config{Create: true})
	wantErr(t, err, uid.ErrConfig)
}

func TestCheckTag(t *testing.T) {
	for _, tag := range []string{"", " a", "a ", "a\n", "\xff", strings.Repeat("x", segment.MaxTag+1)} {
		_, err := segment.New(t.Context(), new(segmenttest.Memory), tag, segment.Config{Create: true})
		wantErr(t, err, segment.ErrUnknownTag)
	}
	for _, tag := range []string{"a", "a b", "名前", strings.Repeat("x", segment.MaxTag)} {
		if err := segment.CheckTag(tag); err != nil {
			t.Errorf("CheckTag(%q) = %v", tag, err)
		}
	}
}

// Every id up to the limit is issued, and none above. Waiting does not help, and the
// counter does not move on.
func TestUsedUp(t *testing.T) {
	for _, c := range []struct{ limit, from, step int64 }{
		{1<<53 - 1, 1<<53 - 1000, 300},
		{1000, 1, 1000},
		{1000, 1, 999},
		{1000, 1, 7},
		{1, 1, 50},
		{0, math.MaxInt64 - 1000, 300},
		{0, math.MaxInt64 - 1, 300},
		{math.MaxInt64 - 1, math.MaxInt64 - 1000, 0},
		{0, math.MaxInt64 - 3000, 2000},
	} {
		synctest.Test(t, func(t *testing.T) {
			store := new(counter)
			must(t, store.Create(t.Context(), "orders", c.from, 300))
			last := cmp.Or(c.limit, math.MaxInt64-1)
			config := segment.Config{Step: c.step, Limit: c.limit}
			g := open(t, store, config)
			take(t, g, uid.ID(c.from), int(last-c.from+1))
			asked := store.requests.Load()
			for range 3 {
				_, err := g.Next()
				wantErr(t, err, segment.ErrUsedUp)
				_, err = g.Wait(t.Context())
				wantErr(t, err, segment.ErrUsedUp)
			}
			if n := store.requests.Load(); c.step == c.limit && (asked != 1 || n != 1) {
				t.Errorf("%+v: %d requests, then %d, though the first range ends at the limit", c, asked, n)
			}
			must(t, g.Close())
			for range 2 { // starts
				_, err := segment.New(t.Context(), store, "orders", config)
				wantErr(t, err, segment.ErrUsedUp)
			}
			if now := store.next(t); now != last+1 {
				t.Errorf("%+v: the counter is %d, want %d", c, now, last+1)
			}
		})
	}
}

// answers is a store that answers with the results of a function.
type answers func() (first, count int64, err error)

func (a answers) Reserve(context.Context, string, int64) (int64, int64, error) { return a() }
func (a answers) String() string                                               { return "answers" }

// A store that returns an invalid range, or panics, makes the call fail.
func TestAbsurdAnswers(t *testing.T) {
	for name, answer := range map[string]answers{
		"no ids":       func() (int64, int64, error) { return 5, 0, nil },
		"negative":     func() (int64, int64, error) { return 5, -3, nil },
		"below 0":      func() (int64, int64, error) { return -5, 10, nil },
		"beyond int64": func() (int64, int64, error) { return math.MaxInt64 - 5, 10, nil },
		"panic":        func() (int64, int64, error) { panic("no") },
		"not a number": func() (int64, int64, error) {
			return 0, 0, fmt.Errorf(`%w: "orders" in answers is text`, segment.ErrUnusable)
		},
		"elsewhere": func() (int64, int64, error) {
			return 0, 0, fmt.Errorf(`%w: "orders" in answers`, errors.Join(segment.ErrUnusable, uid.ErrConfig))
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := segment.New(t.Context(), answer, "orders", segment.Config{})
			wantErr(t, err, segment.ErrUnusable, `"orders" in answers`)
		})
	}
}

// A store may answer with ranges of any size, such as a single one of all ids.
func TestAnswersOfAnySize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := segment.New(t.Context(), answers(func() (int64, int64, error) { return 1, math.MaxInt64 - 1, nil }), "orders", segment.Config{})
		must(t, err)
		defer g.Close()
		take(t, g, 1, 100_000)
		time.Sleep(time.Hour)
		if s := g.Stats(); s.Loads.Requests != 1 || s.Remaining != math.MaxInt64-1-100_000 || s.LastError != nil {
			t.Errorf("Stats() = %+v, want one load, and no other to be due", s)
		}
	})
}

// Stats show both ranges.
func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(counter)
		store.takes.Store(int64(50 * time.Millisecond))
		g := open(t, store, segment.Config{Step: 100, MaxStep: 100})
		loads := &uid.LoadStats{From: "memory", Tag: "orders", InUse: uid.Run{First: 1, N: 100}, LastSize: 100, Requests: 1, LoadTime: 50 * time.Millisecond}
		want := uid.Stats{Remaining: 100, Loads: loads}
		check := func() {
			t.Helper()
			if got := g.Stats(); !reflect.DeepEqual(got, want) {
				t.Errorf("Stats() = %+v, %+v\nwant      %+v, %+v", got, got.Loads, want, want.Loads)
			}
		}
		check()
		take(t, g, 1, 11) // the second run of the range begins
		synctest.Wait()
		time.Sleep(20 * time.Millisecond)
		want.Issued, want.Remaining, loads.Requests, loads.Loading = 11, 89, 2, 20*time.Millisecond
		check()
		time.Sleep(time.Second)
		want.Remaining, loads.Loading, loads.Next = 189, 0, uid.Run{First: 101, N: 100}
		check()
		take(t, g, 12, 90)
		synctest.Wait()
		time.Sleep(time.Second)
		want.Issued, want.Remaining, loads.InUse, loads.Next = 101, 99, loads.Next, uid.Run{}
		check()
		must(t, g.Close())
		want.Closed, want.Remaining, loads.Returned = true, 0, 99
		check()
	})
}

// A store that answers with an error is not unavailable. It is asked again after a minute.
func TestUnusable(t *testing.T) {
	for _, why := range []error{segment.ErrUnusable, uid.ErrConfig, segment.ErrUnknownTag} {
		synctest.Test(t, func(t *testing.T) {
			store := new(counter)
			store.says.Store(&why)
			_, err := segment.New(t.Context(), store, "orders", segment.Config{Create: true})
			wantErr(t, err, why)
			store.says.Store(nil)
			g := open(t, store, segment.Config{Step: 10, MaxStep: 10})
			synctest.Wait()
			store.says.Store(&why)
			take(t, g, 1, 10)
			asked := store.requests.Load()
			for range 600 {
				_, err := g.Wait(t.Context())
				wantErr(t, err, why)
				time.Sleep(time.Second)
			}
			if n := store.requests.Load() - asked; n < 9 || n > 11 {
				t.Errorf("%d requests in ten minutes, want one a minute", n)
			}
			store.says.Store(nil)
			time.Sleep(time.Minute)
			synctest.Wait()
			take(t, g, 11, 10)
		})
	}
}
