package protocol

import "testing"

func (d *driver) leaves(next int64, want bool) {
	d.t.Helper()
	if got := d.Leave(next); got != want {
		d.t.Fatalf("Leave says that there is something to give back: %v, want %v", got, want)
	}
}

func TestLeaveWithNothing(t *testing.T) {
	t.Run("at once", func(t *testing.T) {
		d := drive(t, 9, -1)
		d.leaves(0, false)
		d.ends(look, Answer{Now: 1000, Next: 0})
	})
	t.Run("exact, and held by another", func(t *testing.T) {
		d := drive(t, 9, 7)
		d.leaves(0, false)
		d.ends(read7, row7(1000, "other", 1200))
	})
	t.Run("given back", func(t *testing.T) {
		d := hold(t, -1)
		d.leaves(1010, true)
		d.goes(read7, row7(1050, "t1", 1100))
		d.ends(release7("t1", "t2", 1010), Answer{Done: true})
		d.owns(Owned{})
		d.leaves(1010, false)
		d.ends(look, Answer{Now: 1060, Next: 8})
	})
}

func TestLeave(t *testing.T) {
	for _, c := range []struct {
		name        string
		next, until int64
	}{
		{"some is stamped", 1010, 1010},
		{"nothing is stamped", 0, 500},
		{"nothing is stamped of this number", 400, 500},
		{"all is stamped", 1100, 1100},
		{"more was stamped of another number", 1200, 1100},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, exact := range []int64{-1, 7} {
				d := hold(t, exact)
				d.Use(1090, 5000)
				d.leaves(c.next, true)
				d.fails(read7, failed, errStore)
				d.goes(read7, row7(1050, "t1", 1100))
				d.ends(release7("t1", "t2", c.until), Answer{Done: true})
				d.owns(Owned{})
			}
		})
	}
	t.Run("lost", func(t *testing.T) {
		d := hold(t, -1)
		d.leaves(1010, true)
		d.ends(read7, row7(1050, "other", 1200))
		d.owns(Owned{})
		d.ends(look, Answer{Now: 1060, Next: 8})
	})
}

func TestLeaveInDoubt(t *testing.T) {
	acquiring := func(t *testing.T, exact int64) *driver {
		t.Helper()
		d := drive(t, 9, exact)
		free := Answer{Now: 1000, Rows: []Row{{Number: 7, Token: "old"}}, Next: 8}
		if exact < 0 {
			d.goes(look, free)
		} else {
			d.goes(read7, free)
		}
		d.goes(Request{Op: Swap, Number: 7, Old: "old", Token: "t1", Until: 1100, Acquire: true}, failed)
		d.leaves(0, true)
		return d
	}
	extending := func(t *testing.T) *driver {
		t.Helper()
		d := hold(t, -1)
		d.goes(read7, row7(1050, "t1", 1100))
		d.goes(extend7("t1", "t2", 1150), failed)
		d.leaves(1010, true)
		return d
	}
	releasing := func(t *testing.T, answer Answer) *driver {
		t.Helper()
		d := hold(t, -1)
		d.leaves(1010, true)
		d.goes(read7, row7(1050, "t1", 1100))
		d.goes(release7("t1", "t2", 1010), answer)
		d.owns(Owned{7, 500, 1100})
		return d
	}
	for _, exact := range []int64{-1, 7} {
		t.Run("acquired", func(t *testing.T) {
			d := acquiring(t, exact)
			d.goes(read7, row7(1010, "t1", 1100))
			d.ends(release7("t1", "t2", 0), Answer{Done: true})
			d.owns(Owned{})
		})
		t.Run("not acquired", func(t *testing.T) {
			d := acquiring(t, exact)
			d.fails(read7, row7(1010, "old", 0), errStore)
			d.ends(read7, row7(1010, "old", 0))
			d.owns(Owned{})
		})
	}
	t.Run("extended", func(t *testing.T) {
		d := extending(t)
		d.goes(read7, row7(1060, "t2", 1150))
		d.ends(release7("t2", "t3", 1010), Answer{Done: true})
	})
	t.Run("not extended", func(t *testing.T) {
		d := extending(t)
		d.fails(read7, row7(1060, "t1", 1100), errStore)
		d.goes(read7, row7(1060, "t1", 1100))
		d.ends(release7("t1", "t3", 1010), Answer{Done: true})
	})
	t.Run("released", func(t *testing.T) {
		for _, answer := range []Answer{failed, {}} {
			d := releasing(t, answer)
			d.goes(read7, Answer{Now: 1060, Rows: []Row{{Number: 7, Token: "t2", Until: 1010}}})
			d.owns(Owned{7, 500, 1100}) // a grant never shrinks
			d.ends(release7("t2", "t3", 1010), Answer{Done: true})
			d.owns(Owned{})
		}
	})
	t.Run("about to try again", func(t *testing.T) {
		d := drive(t, 9, 7)
		free := Answer{Now: 1000, Rows: []Row{{Number: 7, Token: "old", Until: 500}}}
		take := Request{Op: Swap, Number: 7, Old: "old", Token: "t1", Until: 1100, Acquire: true}
		d.goes(read7, free)
		d.goes(take, failed)
		d.fails(read7, free, errStore)
		d.goes(read7, free)
		d.leaves(0, true)
		take.Token = "t2"
		d.goes(take, Answer{Done: true})
		d.goes(read7, row7(1010, "t2", 1100))
		d.ends(release7("t2", "t3", 500), Answer{Done: true})
		d.owns(Owned{})
	})
}

// TestLeaveWhileAsking has the request that is under way when Leave is called be
// answered after it.
func TestLeaveWhileAsking(t *testing.T) {
	d := drive(t, 9, -1)
	d.goes(look, Answer{Now: 1000, Next: 7})
	insert := d.Next()
	d.leaves(0, false)
	if done, err := d.Take(insert, Answer{Done: true, Number: 7}); done || err != nil {
		t.Fatalf("a number was taken after Leave: done %v, error %v, want to give it back", done, err)
	}
	d.goes(read7, row7(1010, "t1", 1100))
	d.ends(release7("t1", "t2", 0), Answer{Done: true})
	d.owns(Owned{})
}
