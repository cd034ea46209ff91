package protocol

import (
	"fmt"
	"slices"
	"testing"
)

var failed = Answer{Err: errStore}

func TestDoubtsOfAcquiring(t *testing.T) {
	insert := Request{Op: Insert, Number: 7, Token: "t1", Until: 1100, Acquire: true}
	take := Request{Op: Swap, Number: 7, Old: "old", Token: "t1", Until: 1100, Acquire: true}
	rested := Answer{Now: 1000, Rows: []Row{{Number: 7, Token: "old", Until: 500}}, Next: 8}
	for _, answer := range []struct {
		name string
		Answer
		err error
	}{{"error", failed, errStore}, {"not done", Answer{}, ErrNotDone}} {
		t.Run(answer.name, func(t *testing.T) {
			t.Run("insert was done", func(t *testing.T) {
				d := drive(t, 9, 7)
				d.goes(read7, Answer{Now: 1000})
				d.goes(insert, answer.Answer)
				d.owns(Owned{})
				d.ends(read7, row7(1010, "t1", 1100))
				d.owns(Owned{7, 0, 1100})
				d.goes(read7, row7(1050, "t1", 1100)) // a round later
				d.ends(extend7("t1", "t2", 1150), Answer{Done: true})
				d.owns(Owned{7, 0, 1150})
			})
			t.Run("insert was not done", func(t *testing.T) {
				d := drive(t, 9, 7)
				d.goes(read7, Answer{Now: 1000})
				d.goes(insert, answer.Answer)
				d.fails(read7, Answer{Now: 1010}, answer.err)
				d.goes(read7, Answer{Now: 1020})
				d.owns(Owned{})
				d.leaves(0, true)
			})
			t.Run("an exact number was not taken, and is by the second try", func(t *testing.T) {
				d := drive(t, 9, 7)
				free := Answer{Now: 1000, Rows: []Row{{Number: 7, Token: "old", Until: 500}}}
				d.goes(read7, free)
				d.goes(take, answer.Answer)
				d.fails(read7, free, answer.err)
				d.goes(read7, free)
				second := take
				second.Token = "t2"
				d.goes(second, answer.Answer)
				// The first came late, before the second.
				d.ends(read7, row7(1010, "t1", 1100))
				d.owns(Owned{7, 500, 1100})
			})
		})
	}
	t.Run("take was done", func(t *testing.T) {
		d := drive(t, 9, -1)
		d.goes(look, rested)
		d.goes(take, failed)
		d.fails(read7, failed, errStore)
		d.ends(read7, row7(1010, "t1", 1100))
		d.owns(Owned{7, 500, 1100})
	})
	t.Run("somebody was faster", func(t *testing.T) {
		d := drive(t, 9, -1)
		d.goes(look, rested)
		d.goes(take, failed)
		d.goes(read7, row7(1010, "other", 1105))
		d.owns(Owned{})
		d.goes(look, Answer{Now: 1010, Next: 8})
		d.ends(fresh("t2", 1110), Answer{Done: true, Number: 8})
		d.owns(Owned{8, 0, 1110})
	})
	t.Run("somebody was faster, says the store", func(t *testing.T) {
		d := drive(t, 9, -1)
		d.goes(look, rested)
		d.goes(take, Answer{})
		d.leaves(0, false)
		d = drive(t, 9, -1)
		d.goes(look, rested)
		d.goes(take, Answer{})
		d.goes(look, Answer{Now: 1000, Rows: []Row{{Number: 7, Token: "other", Until: 600}}, Next: 8})
		second := Request{Op: Swap, Number: 7, Old: "other", Token: "t2", Until: 1100, Acquire: true}
		d.goes(second, Answer{})
		d.fails(look, Answer{Now: 1000, Rows: []Row{{Number: 7, Token: "other", Until: 600}}, Next: 8}, ErrNotDone)
		d.goes(look, Answer{Now: 1000, Rows: []Row{{Number: 7, Token: "other", Until: 600}}, Next: 8})
	})
}

// A start that loses a race tries other rows of the same look, four in all. It takes each only
// by the token that the look showed.
func TestTries(t *testing.T) {
	free := Answer{Now: 1000, Next: 8}
	for n := range int64(6) {
		free.Rows = append(free.Rows, Row{Number: n, Token: fmt.Sprint("r", n), Until: 500 + n})
	}
	take := func(n int64) Request {
		return Request{Op: Swap, Number: n, Old: fmt.Sprint("r", n), Token: fmt.Sprint("t", n+1), Until: 1100, Acquire: true}
	}
	tried := func(t *testing.T, tries int64) *driver {
		d := drive(t, 9, -1)
		d.goes(look, free)
		for n := range tries {
			d.goes(take(n), Answer{})
			d.owns(Owned{})
		}
		return d
	}
	t.Run("and takes the fourth", func(t *testing.T) {
		d := tried(t, 3)
		d.ends(take(3), Answer{Done: true})
		d.owns(Owned{3, 503, 1100})
		if want := []int64{6, 5, 4, 3}; !slices.Equal(d.picked, want) {
			t.Errorf("picked of %v, want %v", d.picked, want)
		}
	})
	t.Run("and looks again", func(t *testing.T) {
		d := tried(t, 4)
		d.fails(look, free, ErrNotDone) // it shows what the last try named in vain
		d.goes(look, free)
	})
	t.Run("and leaves", func(t *testing.T) {
		d := tried(t, 2)
		d.leaves(0, false)
		d.ends(take(2), Answer{})
		d.expect(look)
	})
	t.Run("and is in doubt of one", func(t *testing.T) {
		d := tried(t, 1)
		d.goes(take(1), failed)
		d.goes(Request{Op: Read, Number: 1}, Answer{Now: 1010, Rows: []Row{{Number: 1, Token: "other", Until: 600}}})
		d.goes(look, Answer{Now: 1010, Next: 9})
	})
}

func TestDoubtsOfExtending(t *testing.T) {
	begin := func(t *testing.T, answer Answer) *driver {
		t.Helper()
		d := hold(t, -1)
		d.goes(read7, row7(1050, "t1", 1100))
		d.goes(extend7("t1", "t2", 1150), answer)
		d.owns(Owned{7, 500, 1100})
		return d
	}
	for _, said := range []struct {
		answer Answer
		err    error
	}{{failed, errStore}, {Answer{}, ErrNotDone}} {
		t.Run("done", func(t *testing.T) {
			d := begin(t, said.answer)
			d.fails(read7, failed, errStore)
			d.goes(read7, row7(1060, "t2", 1150))
			d.owns(Owned{7, 500, 1150})
			d.ends(extend7("t2", "t3", 1160), Answer{Done: true})
			d.owns(Owned{7, 500, 1160})
		})
		t.Run("not done", func(t *testing.T) {
			d := begin(t, said.answer)
			d.fails(read7, failed, errStore)
			d.fails(read7, row7(1060, "t1", 1100), said.err)
			d.owns(Owned{7, 500, 1100})
			d.goes(read7, row7(1070, "t1", 1100))
			d.ends(extend7("t1", "t3", 1170), Answer{Done: true})
			d.owns(Owned{7, 500, 1170})
		})
	}
	t.Run("each of several", func(t *testing.T) {
		for late := range 5 {
			d := hold(t, -1)
			for i := range 5 {
				d.goes(read7, row7(1050, "t1", 1100))
				d.goes(extend7("t1", fmt.Sprint("t", i+2), 1150), failed)
				d.fails(read7, row7(1050, "t1", 1100), errStore)
			}
			d.goes(read7, row7(1050, fmt.Sprint("t", late+2), 1150))
			d.owns(Owned{7, 500, 1150})
			d.goes(extend7(fmt.Sprint("t", late+2), "t7", 1150), failed)
			// The others are past: each was to replace t1.
			d.fails(read7, row7(1050, fmt.Sprint("t", (late+1)%5+2), 1150), ErrLost)
		}
	})
	t.Run("one too many", func(t *testing.T) {
		for _, remembered := range []bool{true, false} {
			d, tries := hold(t, -1), 10*maxDoubts
			for i := range tries {
				d.goes(read7, row7(1050, "t1", 1100))
				d.goes(extend7("t1", fmt.Sprint("t", i+2), 1150), failed)
				d.fails(read7, row7(1050, "t1", 1100), errStore)
			}
			if n := len(d.doubts); n != maxDoubts {
				t.Fatalf("%d doubts, want %d", n, maxDoubts)
			}
			oldest := tries + 2 - maxDoubts
			if remembered {
				d.goes(read7, row7(1050, fmt.Sprint("t", oldest), 1150))
				d.owns(Owned{7, 500, 1150})
				continue
			}
			d.fails(read7, row7(1050, fmt.Sprint("t", oldest-1), 1150), ErrLost)
			d.owns(Owned{})
			d.expect(Request{Op: Look})
		}
	})
	t.Run("lost", func(t *testing.T) {
		d := begin(t, failed)
		d.fails(read7, row7(1060, "other", 1300), ErrLost)
		d.owns(Owned{})
		// Nothing of that number matters for the next.
		d.goes(look, Answer{Now: 1060, Rows: []Row{{Number: 7, Token: "t2", Until: 1150}}, Next: 10})
		d.goes(Request{Op: Swap, Number: 7, Old: "t2", Token: "t3", Until: 1160, Acquire: true}, failed)
		d.fails(read7, row7(1060, "t2", 1150), errStore)
		d.goes(read7, row7(1060, "t2", 1150))
		d.owns(Owned{})
		d.expect(look)
	})
}

func TestLost(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer Answer
		errs   []error
		says   string
	}{
		{"a new holder", row7(1050, "other", 1200), []error{ErrLost}, "lease: the number is lost: number 7 has a new holder"},
		{"a new holder that has given it back", row7(1050, "other", 1100), []error{ErrLost}, "lease: the number is lost: number 7 has a new holder"},
		{"less than was committed", row7(1050, "other", 1099), []error{ErrLost, ErrRewound},
			ErrRewound.Error() + ": number 7 is reserved until 1970-01-01T00:00:01.099Z, want at least 1970-01-01T00:00:01.1Z, as before"},
		{"gone", Answer{Now: 1050}, []error{ErrLost, ErrRewound}, ErrRewound.Error() + ": the row of number 7 is gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, ahead := range []int64{0, 4000} {
				d := hold(t, -1)
				d.Use(3000, ahead)
				if err := d.fails(read7, c.answer, c.errs...); err.Error() != c.says {
					t.Errorf("says %q, want %q", err, c.says)
				}
				d.owns(Owned{})
				// It takes another, for the instants that it needs.
				until := max(3100, ahead)
				d.goes(look, Answer{Now: 1050, Next: 8})
				d.ends(fresh("t2", until), Answer{Done: true, Number: 8})
				d.owns(Owned{8, 0, until})
			}
		})
	}
}

// TestClones has holders with up to six writes in doubt cloned: each twin's later
// doubts are its own.
func TestClones(t *testing.T) {
	for n := range 6 {
		d := hold(t, -1)
		try := func(h *Holder, token string) {
			t.Helper()
			d := driver{t: t, Holder: *h}
			d.config.Token = func() string { return token }
			d.goes(read7, row7(1050, "t1", 1100))
			d.goes(extend7("t1", token, 1150), failed)
			d.fails(read7, row7(1050, "t1", 1100), errStore)
			*h = d.Holder
		}
		for i := range n {
			try(&d.Holder, fmt.Sprint("before", i))
		}
		twin := d.Holder
		try(&d.Holder, "first's")
		try(&twin, "second's")
		first, second := driver{t: t, Holder: d.Holder}, driver{t: t, Holder: twin}
		first.goes(read7, row7(1060, "first's", 1150))
		first.owns(Owned{7, 500, 1150})
		second.fails(read7, row7(1060, "first's", 1150), ErrLost)
		second.owns(Owned{})
		first.owns(Owned{7, 500, 1150})
	}
}
