package protocol

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

const window = 100

var errStore = errors.New("the store is gone")

// driver asks a holder what it asks for, and tells it what the test says.
type driver struct {
	t *testing.T
	Holder
	picked []int64 // of how many it was asked to pick
	pick   int64   // what it picks
}

func drive(t *testing.T, limit, exact int64) *driver {
	d := &driver{t: t}
	tokens := 0
	d.Holder = New(Config{
		Limit:  limit,
		Exact:  exact,
		Window: window,
		Token:  func() string { tokens++; return fmt.Sprint("t", tokens) },
		Pick:   func(n int64) int64 { d.picked = append(d.picked, n); return min(d.pick, n-1) },
	})
	return d
}

// expect requires the next request to be want.
func (d *driver) expect(want Request) Request {
	d.t.Helper()
	got := d.Next()
	if got != want {
		d.t.Fatalf("asks for %+v, want %+v", got, want)
	}
	return got
}

// goes requires the next request to be want, answers it, and requires that nothing
// is at its end.
func (d *driver) goes(want Request, answer Answer) {
	d.t.Helper()
	if done, err := d.Take(d.expect(want), answer); done || err != nil {
		d.t.Fatalf("after %+v: done %v, error %v, want to go on", want, done, err)
	}
}

// ends is as goes, and requires the round to be at its end.
func (d *driver) ends(want Request, answer Answer) {
	d.t.Helper()
	if done, err := d.Take(d.expect(want), answer); !done || err != nil {
		d.t.Fatalf("after %+v: done %v, error %v, want it to be done", want, done, err)
	}
}

// fails is as goes, and requires an error that matches all of errs, and no other
// of the package's.
func (d *driver) fails(want Request, answer Answer, errs ...error) error {
	d.t.Helper()
	done, err := d.Take(d.expect(want), answer)
	if done {
		d.t.Fatalf("after %+v: done, and error %v", want, err)
	}
	for _, known := range []error{ErrLost, ErrRewound, ErrHeld, ErrExhausted, ErrNotDone, errStore} {
		if errors.Is(err, known) != slices.Contains(errs, known) {
			d.t.Fatalf("after %+v: error %q matches %q: %v", want, err, known, errors.Is(err, known))
		}
	}
	return err
}

// owns requires the grant to be want; the zero one is none.
func (d *driver) owns(want Owned) {
	d.t.Helper()
	if got, held := d.Owns(); got != want || held != (want != Owned{}) {
		d.t.Fatalf("owns %+v, held %v, want %+v", got, held, want)
	}
}

// hold has it hold number 7 with token t1, and own what lies in [500, 1100).
func hold(t *testing.T, exact int64) *driver {
	t.Helper()
	d := drive(t, 9, exact)
	old := Row{Number: 7, Token: "old", Until: 500}
	if exact < 0 {
		d.goes(Request{Op: Look}, Answer{Now: 1000, Rows: []Row{old}, Next: 8})
	} else {
		d.goes(read7, Answer{Now: 1000, Rows: []Row{old}})
	}
	d.ends(Request{Op: Swap, Number: 7, Old: "old", Token: "t1", Until: 1100, Acquire: true}, Answer{Done: true})
	d.owns(Owned{7, 500, 1100})
	return d
}

var read7 = Request{Op: Read, Number: 7}

// row7 is what a read of number 7 shows.
func row7(now int64, token string, until int64) Answer {
	return Answer{Now: now, Rows: []Row{{Number: 7, Token: token, Until: until, Live: true}}}
}

func extend7(old, token string, until int64) Request {
	return Request{Op: Swap, Number: 7, Old: old, Token: token, Until: until}
}

func release7(old, token string, until int64) Request {
	return Request{Op: Swap, Number: 7, Old: old, Token: token, Until: until, Release: true}
}

var look, full = Request{Op: Look}, Request{Op: Look, Full: true}

// fresh is the insert of a number that was never given.
func fresh(token string, until int64) Request {
	return Request{Op: Insert, Number: -1, Token: token, Until: until, Acquire: true, Fresh: true}
}

func TestChoice(t *testing.T) {
	insert := fresh("t1", 1100)
	take := func(number int64, old string, until int64) Request {
		return Request{Op: Swap, Number: number, Old: old, Token: "t1", Until: until, Acquire: true}
	}
	a, b, c := Row{Number: 4, Token: "a", Until: 900}, Row{Number: 2, Token: "b", Until: 1000}, Row{Number: 3, Token: "c", Until: 1000 + soon + 1}
	far, farther := Row{Number: 8, Token: "d", Until: 5000}, Row{Number: 1, Token: "e", Until: 6000}
	next, later := Row{Number: 6, Token: "g", Until: 1001}, Row{Number: 7, Token: "h", Until: 1000 + soon}
	near := Row{Number: 5, Token: "f", Until: 5000 + window/16}
	for _, c := range []struct {
		name   string
		free   []Row
		next   int64
		pick   int64
		picked []int64
		want   Request
		grant  Owned
	}{
		{"the first of all", nil, 0, 0, nil, insert, Owned{0, 0, 1100}},
		{"new, the last", nil, 9, 0, nil, insert, Owned{9, 0, 1100}},
		{"rested before new", []Row{a}, 5, 0, []int64{1}, take(4, "a", 1100), Owned{4, 900, 1100}},
		{"any of the rested, the first", []Row{a, b, c, far}, 10, 0, []int64{2, 1}, take(4, "a", 1100), Owned{4, 900, 1100}},
		{"any of the rested, the last", []Row{a, b, c, far}, 10, 1, []int64{2, 1}, take(2, "b", 1100), Owned{2, 1000, 1100}},
		{"new before one that is reserved ahead", []Row{c, far}, 9, 0, nil, insert, Owned{9, 0, 1100}},
		{"one that is reserved ahead", []Row{c, far}, 10, 0, []int64{1}, take(3, "c", 2001), Owned{3, 2001, 2001}},
		{"one that is reserved a little ahead, before new", []Row{next, later, c}, 9, 1, []int64{2, 1}, take(7, "h", 2000), Owned{7, 2000, 2000}},
		{"rested before one that is reserved a little ahead", []Row{a, next}, 9, 0, []int64{1}, take(4, "a", 1100), Owned{4, 900, 1100}},
		{"one that is reserved far ahead", []Row{far, farther}, 10, 0, []int64{1}, take(8, "d", 5000), Owned{8, 5000, 5000}},
		{"any of those that are nearly the least", []Row{far, near, farther}, 10, 1, []int64{2, 1}, take(5, "f", 5006), Owned{5, 5006, 5006}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := drive(t, 9, -1)
			d.pick = c.pick
			d.owns(Owned{})
			d.goes(look, Answer{Now: 1000, Rows: c.free, Next: c.next})
			d.owns(Owned{})
			if c.next > 9 && c.free[0].Until > 1000+soon { // nothing is new, and this look may have missed a better one
				d.goes(full, Answer{Now: 1000, Rows: c.free, Next: c.next})
			}
			d.ends(c.want, Answer{Done: true, Number: c.grant.Number})
			d.owns(c.grant)
			if !slices.Equal(d.picked, c.picked) {
				t.Errorf("picked of %v, want %v", d.picked, c.picked)
			}
			// And goes on with it.
			d.expect(Request{Op: Read, Number: c.grant.Number})
		})
	}
}

func TestExhausted(t *testing.T) {
	d := drive(t, 9, -1)
	d.goes(look, Answer{Now: 1000, Next: 10})
	err := d.fails(full, Answer{Now: 1000, Next: 10, Held: 6}, ErrExhausted)
	var e *Exhausted
	if !errors.As(err, &e) || *e != (Exhausted{Held: 6, Next: 10, Max: 9}) {
		t.Errorf("error %#v", err)
	}
	d.fails(look, Answer{Err: errStore}, errStore)
	d.goes(look, Answer{Now: 1000, Next: 9})
}

// What a Fresh insert may report.
func TestFresh(t *testing.T) {
	for _, onlyFresh := range []bool{false, true} {
		begin := func(t *testing.T) *driver {
			d := drive(t, 9, -1)
			d.config.Fresh = onlyFresh
			free := []Row{{Number: 1, Token: "a", Until: 5000}}
			if onlyFresh {
				free[0].Until = 900 // which does not matter
			}
			d.goes(look, Answer{Now: 1000, Rows: free, Next: 4})
			return d
		}
		t.Run("a number", func(t *testing.T) {
			d := begin(t)
			d.ends(fresh("t1", 1100), Answer{Done: true, Number: 6})
			d.owns(Owned{6, 0, 1100})
		})
		t.Run("no answer: the number is not known, and nothing is to give back", func(t *testing.T) {
			d := begin(t)
			d.fails(fresh("t1", 1100), failed, errStore)
			d.owns(Owned{})
			d.goes(look, Answer{Now: 1010, Next: 5})
			d.ends(fresh("t2", 1110), Answer{Done: true, Number: 5})
			d.owns(Owned{5, 0, 1110})
			d = begin(t)
			d.fails(fresh("t1", 1100), failed, errStore)
			d.leaves(0, false)
		})
		t.Run("nothing is new", func(t *testing.T) {
			d := begin(t)
			insert := fresh("t1", 1100)
			if onlyFresh {
				d.fails(insert, Answer{Number: 10}, ErrExhausted)
				return
			}
			d.goes(insert, Answer{Number: 10})
			d.goes(full, Answer{Now: 1000, Rows: []Row{{Number: 2, Token: "b", Until: 4000}}, Next: 10})
			d.ends(Request{Op: Swap, Number: 2, Old: "b", Token: "t2", Until: 4000, Acquire: true}, Answer{Done: true})
		})
		t.Run("nothing is new, and nothing is free", func(t *testing.T) {
			d := begin(t)
			if !onlyFresh {
				d.goes(fresh("t1", 1100), Answer{Number: 10})
				d.fails(full, Answer{Now: 1000, Next: 8, Held: 9}, ErrExhausted) // whatever the store says
			}
		})
	}
}

func TestExact(t *testing.T) {
	t.Run("no row", func(t *testing.T) {
		d := drive(t, 9, 7)
		d.fails(read7, Answer{Err: errStore}, errStore)
		d.goes(read7, Answer{Now: 1000})
		d.ends(Request{Op: Insert, Number: 7, Token: "t1", Until: 1100, Acquire: true}, Answer{Done: true})
		d.owns(Owned{7, 0, 1100})
	})
	t.Run("free", func(t *testing.T) { hold(t, 7) })
	t.Run("held, then free", func(t *testing.T) {
		d := drive(t, 9, 7)
		held := row7(1000, "other", 1200)
		held.Rows[0].Holder = "host a"
		err := d.fails(read7, held, ErrHeld)
		if want := "lease: the number is held: number 7, by host a"; err.Error() != want {
			t.Errorf("says %q, want %q", err, want)
		}
		d.goes(read7, Answer{Now: 2000, Rows: []Row{{Number: 7, Token: "other", Until: 2300}}})
		d.ends(Request{Op: Swap, Number: 7, Old: "other", Token: "t1", Until: 2300, Acquire: true}, Answer{Done: true})
		d.owns(Owned{7, 2300, 2300})
	})
	t.Run("somebody is faster", func(t *testing.T) {
		d := drive(t, 9, 7)
		d.goes(read7, Answer{Now: 1000})
		d.goes(Request{Op: Insert, Number: 7, Token: "t1", Until: 1100, Acquire: true}, Answer{})
		d.fails(read7, row7(1000, "other", 1100), ErrHeld)
		d.owns(Owned{})
	})
	t.Run("lost", func(t *testing.T) {
		d := hold(t, 7)
		d.fails(read7, row7(1050, "other", 1200), ErrLost)
		d.fails(read7, row7(1060, "other", 1200), ErrHeld)
	})
	t.Run("number 0", func(t *testing.T) { drive(t, 9, 0).expect(Request{Op: Read}) })
	t.Run("below 0 is any", func(t *testing.T) { drive(t, 9, -5).expect(Request{Op: Look}) })
}

func TestReserve(t *testing.T) {
	for _, c := range []struct {
		name             string
		used, ahead, now int64
		want             int64
	}{
		{"the clock", 0, 0, 1030, 1130},
		{"what is used is beyond the clock", 1090, 0, 1030, 1190},
		{"ahead", 1040, 1700, 1030, 1700},
		{"ahead is less than the window", 1040, 1100, 1030, 1140},
		{"a clock that went back", 0, 0, 10, 1100},
		{"used beyond all instants", MaxInstant + 5, 0, 1030, MaxInstant},
		{"ahead beyond all instants", 1040, MaxInstant + 5, 1030, MaxInstant},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := hold(t, -1)
			d.Use(c.used, c.ahead)
			d.Use(0, 0) // what was said stands
			d.goes(read7, row7(c.now, "t1", 1100))
			d.owns(Owned{7, 500, 1100})
			d.ends(extend7("t1", "t2", c.want), Answer{Done: true})
			d.owns(Owned{7, 500, c.want})
			d.goes(read7, row7(c.now, "t2", c.want))
			d.ends(extend7("t2", "t3", c.want), Answer{Done: true})
		})
	}
}
