package protocol

import (
	"cmp"
	"testing"
)

// within is how many runs may pass until a seeded fault is found.
const within = 300

// extends is whether a request reserves more for a number that is held.
func extends(r Request) bool { return r.Op == Swap && !r.Acquire && !r.Release }

// TestSeededFaults puts faults between the holders and their world that a wrong
// protocol would have, and requires the simulator to find what they break.
func TestSeededFaults(t *testing.T) {
	takes := func(r Request) bool { return r.Op == Swap && r.Acquire }
	fromClock := func(of func(Request) bool) seams {
		return seams{request: func(w *world, p *process, r Request) Request {
			if of(r) {
				r.Until = p.clock(w) + w.window
			}
			return r
		}}
	}
	anyToken := func(of func(Request) bool) seams {
		return seams{request: func(w *world, _ *process, r Request) Request {
			if of(r) {
				r.Old = w.store.rows[r.Number].token
			}
			return r
		}}
	}
	for _, f := range []struct {
		name     string
		mode     mode // promise, if empty
		seams    seams
		breaches []breach // each must be found
	}{{
		name:     "a renewal writes the clock, and not how far ticks may be stamped",
		seams:    fromClock(extends),
		breaches: []breach{repeated, uncovered, overlap, lowered},
	}, {
		name: "a takeover does not see the floor",
		seams: seams{answer: func(_ *world, p *process, _ Request, a Answer) Answer {
			if _, held := p.holder.Grant(); !held {
				for i := range a.Rows {
					a.Rows[i].Until = 0
				}
			}
			return a
		}},
		breaches: []breach{repeated, overlap, lowered},
	}, {
		name:     "a takeover reserves from the clock on",
		seams:    fromClock(takes),
		breaches: []breach{repeated, uncovered, overlap, lowered},
	}, {
		name:     "a renewal does not compare tokens",
		seams:    anyToken(extends),
		breaches: []breach{repeated, overlap, lowered},
	}, {
		name:     "a takeover does not compare tokens",
		seams:    anyToken(takes),
		breaches: []breach{repeated, overlap, lowered},
	}, {
		name: "ticks are stamped before they are reserved",
		seams: seams{end: func(w *world, _ *process, g Grant) int64 {
			return g.Until + 2*w.tick
		}},
		breaches: []breach{repeated, uncovered, unowned, lowered},
	}, {
		name:     "a name and a count for a token",
		mode:     clones,
		seams:    seams{twin: true},
		breaches: []breach{repeated, overlap},
	}, {
		name: "a release gives back what is stamped",
		seams: seams{request: func(w *world, _ *process, r Request) Request {
			if r.Release {
				r.Until -= 2 * w.tick
			}
			return r
		}},
		breaches: []breach{repeated, overlap, lowered},
	}, {
		name:     "stamping goes on after Leave",
		seams:    seams{zombie: true},
		breaches: []breach{repeated, unowned, lowered},
	}, {
		name: "a write in doubt is taken for done",
		seams: seams{answer: func(_ *world, _ *process, r Request, a Answer) Answer {
			if extends(r) && !a.Done {
				return Answer{Done: true}
			}
			return a
		}},
		breaches: []breach{repeated, uncovered, overlap, lowered},
	}, {
		// This breaks no id. A number is lost for nothing.
		name:     "a write in doubt is forgotten",
		seams:    seams{taken: func(p *process) { p.holder.doubts = nil }},
		breaches: []breach{needless},
	}, {
		name: "a new number has its holder stamp from the floor of it",
		seams: seams{begin: func(p *process, begin int64) int64 {
			if p.moved {
				return p.holder.grant.From
			}
			return begin
		}},
		breaches: []breach{disorder},
	}, {
		name: "a number whose row is gone is given again",
		mode: deletions,
		seams: seams{request: func(_ *world, _ *process, r Request) Request {
			r.Fresh = false
			return r
		}, answer: func(w *world, _ *process, r Request, a Answer) Answer {
			if r.Op == Look && a.Err == nil {
				a.Next = 0
				for number := range w.store.rows {
					a.Next = max(a.Next, number+1)
				}
			}
			return a
		}},
		breaches: []breach{repeated, overlap},
	}, {
		name:     "a grant is taken back",
		seams:    seams{taken: func(p *process) { p.holder.grant.Until-- }},
		breaches: []breach{regrant},
	}, {
		name: "a held number is read from elsewhere",
		mode: restores,
		seams: seams{answer: func(_ *world, p *process, r Request, a Answer) Answer {
			if h := &p.holder; r.Op == Read && a.Err == nil && h.held {
				a.Rows = []Row{{Number: r.Number, Token: h.token, Until: h.grant.Until}}
			}
			return a
		}},
		breaches: []breach{silent},
	}, {
		name: "a row is not found",
		seams: seams{answer: func(_ *world, _ *process, r Request, a Answer) Answer {
			if r.Op == Read {
				a.Rows = nil
			}
			return a
		}},
		breaches: []breach{rewound},
	}, {
		name: "a free number is not shown",
		seams: seams{answer: func(_ *world, _ *process, r Request, a Answer) Answer {
			if r.Op == Look {
				a.Rows = nil
			}
			return a
		}},
		breaches: []breach{endless},
	}} {
		t.Run(f.name, func(t *testing.T) {
			for _, b := range f.breaches {
				if seed, w := hunt(cmp.Or(f.mode, promise), f.seams, []breach{b}, tally{}); w == nil {
					t.Errorf("no %s in %d runs", b, within)
				} else {
					t.Logf("seed %d, %s: %s", seed, b, w.broken.text)
				}
			}
		})
	}
}

// hunt looks for a run with a breach of the kinds that are wanted. It adds to sum what
// happens until then.
func hunt(m mode, s seams, wanted []breach, sum tally) (seed uint64, found *world) {
	for seed := range uint64(within) {
		w := play(seed, m, s, wanted, false)
		sum.add(w.tally)
		if w.broken != nil {
			return seed, w
		}
	}
	return 0, nil
}

// TestHeartbeatIsNoSafety has every number look free at any time: holders take
// them from each other as they please, and still no tick is stamped twice.
func TestHeartbeatIsNoSafety(t *testing.T) {
	// All but an end to being taken from.
	wanted := []breach{repeated, uncovered, unowned, overlap, disorder, lowered, regrant, needless, silent, rewound, premature}
	sum := tally{}
	if seed, w := hunt(promise, seams{asleep: true}, wanted, sum); w != nil {
		t.Errorf("seed %d, %s: %s", seed, w.broken.breach, w.broken.text)
	}
	for _, h := range []happening{ticks, staleStamps, losses, takeovers} {
		t.Logf("%d %s", sum[h], h)
		if sum[h] == 0 {
			t.Errorf("it never came to this: %s", h)
		}
	}
}
