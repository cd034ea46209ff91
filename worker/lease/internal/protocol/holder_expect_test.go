package protocol

import "testing"

// A renewal that need not read is one write, and never reserves less than is owned. In doubt, whatever the reason, the
// holder reads, and writes again at once.
func TestExpect(t *testing.T) {
	expecting := func(t *testing.T, now int64) *driver {
		d := hold(t, -1)
		d.Expect(now, now-20, now+30)
		return d
	}
	extend := func(now, until int64) Request {
		r := extend7("t1", "t2", until)
		r.Earliest, r.Latest = now-20, now+30
		return r
	}
	t.Run("done, and the next is told anew", func(t *testing.T) {
		d := expecting(t, 1050)
		d.ends(extend(1050, 1150), Answer{Done: true})
		d.owns(Owned{7, 500, 1150})
		d.expect(read7)
	})
	t.Run("a clock that stood still", func(t *testing.T) {
		d := expecting(t, 900)
		d.Use(950, 0)
		d.ends(extend(900, 1100), Answer{Done: true})
		d.owns(Owned{7, 500, 1100})
	})
	for name, answer := range map[string]Answer{"not done": {}, "no answer": failed} {
		t.Run(name+", and not written", func(t *testing.T) {
			d := expecting(t, 1050)
			d.goes(extend(1050, 1150), answer)
			d.owns(Owned{7, 500, 1100})
			d.goes(read7, row7(1400, "t1", 1100))
			d.goes(extend7("t1", "t3", 1500), Answer{}) // without bounds, nothing helps
			d.fails(read7, row7(1400, "t1", 1100), ErrNotDone)
		})
		t.Run(name+", and written", func(t *testing.T) {
			d := expecting(t, 1050)
			d.goes(extend(1050, 1150), answer)
			d.goes(read7, row7(1400, "t2", 1150))
			d.owns(Owned{7, 500, 1150})
			d.ends(extend7("t2", "t3", 1500), Answer{Done: true})
		})
		t.Run(name+", and written late", func(t *testing.T) {
			d := expecting(t, 1050)
			d.goes(extend(1050, 1150), answer)
			d.goes(read7, row7(1400, "t1", 1100))
			d.goes(extend7("t1", "t3", 1500), Answer{})
			d.goes(read7, row7(1400, "t2", 1150))
			d.ends(extend7("t2", "t4", 1500), Answer{Done: true})
		})
		t.Run(name+", and the read fails", func(t *testing.T) {
			d := expecting(t, 1050)
			d.goes(extend(1050, 1150), answer)
			d.fails(read7, failed, errStore)
			d.Expect(1060, 0, 0)
			d.expect(read7) // what is in doubt is read first
		})
		t.Run(name+", and lost", func(t *testing.T) {
			for _, row := range []Answer{row7(1400, "other", 1100), row7(1400, "old", 500), {Now: 1400}} {
				d := expecting(t, 1050)
				d.goes(extend(1050, 1150), answer)
				if done, err := d.Take(d.expect(read7), row); done || err == nil {
					t.Fatalf("after %+v: done %t, %v; want a loss", row, done, err)
				}
				d.owns(Owned{})
			}
		})
	}
	t.Run("a holder that leaves reads", func(t *testing.T) {
		d := expecting(t, 1050)
		d.Leave(600)
		d.expect(read7)
	})
	t.Run("a holder of nothing reads", func(t *testing.T) {
		d := drive(t, 9, 7)
		d.Expect(1050, 0, 0)
		d.expect(read7)
	})
}
