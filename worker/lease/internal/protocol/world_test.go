package protocol

import (
	"errors"
	"math/rand/v2"
)

// The store's errors, and the error for a holder that has waited for long
// enough.
var (
	errUnavailable = errors.New("the store is unavailable")
	errConflict    = errors.New("conflict")
	errReset       = errors.New("connection reset")
	errTimeout     = errors.New("timeout")
)

// mode is what a run may do that is outside the promise.
type mode string

const (
	promise   mode = "promise"   // nothing
	clones    mode = "clones"    // holders are cloned
	restores  mode = "restores"  // the store is restored from a backup
	deletions mode = "deletions" // rows of holders are deleted
)

// world is one run: a store, processes with a holder each, and messages under
// way between them. All that happens follows from the seed.
type world struct {
	seed  uint64
	mode  mode
	seams seams
	rng   *rand.Rand
	setup

	now         int64 // what clocks that are right show
	store       memory
	offset      int64 // of the store's clock
	unavailable bool  // the store does not answer
	frozen      bool  // the store does not write

	slots   []*process // each is replaced when it has ended
	started int        // processes so far
	mail    []message

	backups []memory
	epoch   int              // how often the store was restored or a row deleted
	pledged map[string]int64 // what each write would reserve, by token

	oracle
}

// setup is what is drawn for one run.
type setup struct {
	tick, window, expiry, limit int64
	drift                       int64 // how far apart clocks are
	weights                     []int
	total                       int
	dropped, doubled, unclear   int // in per cent: answers lost, requests done twice, answers that are errors
}

// seams are where a seeded fault comes between a holder and its world. Each may
// be nil, and then changes nothing.
type seams struct {
	request func(w *world, p *process, r Request) Request          // as it reaches the store
	answer  func(w *world, p *process, r Request, a Answer) Answer // as it reaches the holder
	taken   func(p *process)                                       // after each answer
	begin   func(p *process, begin int64) int64                    // where stamping begins
	end     func(w *world, p *process, g Grant) int64              // where stamping ends
	zombie  bool                                                   // stamping goes on after Leave
	asleep  bool                                                   // nobody ever looks alive
	twin    bool                                                   // a clone makes the tokens of its twin
}

// message is a request on its way to the store, or its answer on the way back.
type message struct {
	to      *process
	call    int
	request Request
	answer  *Answer // nil is a request
	late    bool    // it is a second copy of a request
	epoch   int     // of an answer: the world's when the store gave it
}

func newWorld(seed uint64, m mode, s seams, wanted []breach, traced bool) *world {
	w := &world{seed: seed, mode: m, seams: s, rng: rand.New(rand.NewPCG(seed, 5)), pledged: map[string]int64{}}
	w.oracle = newOracle(w)
	w.wanted, w.tracing = wanted, traced
	r := w.rng
	w.setup = setup{
		tick:    []int64{1, 1, 10, 7}[r.IntN(4)],
		dropped: r.IntN(20), doubled: r.IntN(30), unclear: r.IntN(15),
	}
	w.window = w.tick * (2 + r.Int64N(40))
	w.expiry = 1 + w.window*(1+r.Int64N(8))/4
	if r.IntN(12) == 0 {
		w.expiry = 1 // hardly anything is live: that must not matter
	}
	w.drift = []int64{0, 2, w.window, 20 * w.window}[r.IntN(4)]
	w.offset = w.skew()
	w.now = 1_000_000 + r.Int64N(1000)
	w.store = newMemory(w.now+w.offset, w.expiry)
	if s.asleep {
		w.store.expiry = -1 << 40
	}
	w.weigh()
	n := 2 + r.IntN(4)
	w.limit = r.Int64N(int64(n) + 2)
	if r.IntN(5) == 0 {
		w.limit = 1 << 20
	}
	w.note("tick %d, window %d, expiry %d, limit %d, drift %d, %d holders", w.tick, w.window, w.expiry, w.limit, w.drift, n)
	for range n {
		exact := int64(-1)
		// A number that an Assigner asks for is created again when its row is gone.
		if w.mode != deletions && r.IntN(8) == 0 {
			exact = r.Int64N(min(w.limit, 2) + 1)
		}
		w.slots = append(w.slots, w.start(exact))
	}
	return w
}

// skew draws how wrong a clock is.
func (w *world) skew() int64 {
	if w.drift == 0 {
		return 0
	}
	return w.rng.Int64N(2*w.drift+1) - w.drift
}

func (w *world) percent(p int) bool { return w.rng.IntN(100) < p }

// pass lets time pass, which can always happen.
func (w *world) pass(d int64) bool {
	w.now += d
	w.store.now = w.now + w.offset
	return true
}

// start starts a process that wants the number exact, or any if it is negative.
func (w *world) start(exact int64) *process {
	w.started++
	p := &process{id: w.started, exact: exact, name: w.started, offset: w.skew(), reserved: map[int64]int64{}}
	p.holder = New(Config{Limit: w.limit, Exact: exact, Window: w.window, Token: p.token(w), Pick: w.rng.Int64N})
	w.note("%v starts, exact %d, clock off by %d", p, exact, p.offset)
	return p
}

// pick returns one of the processes for which ok, or nil.
func (w *world) pick(ok func(p *process) bool) *process {
	var found *process
	n := 0
	for _, p := range w.slots {
		if ok(p) {
			n++
			if w.rng.IntN(n) == 0 {
				found = p
			}
		}
	}
	return found
}

// execute has the store carry out a request, or not, and returns what it says.
func (w *world) execute(m message) Answer {
	p, r := m.to, m.request
	if w.seams.request != nil {
		r = w.seams.request(w, p, r)
	}
	if w.unavailable || w.frozen && r.Token != "" {
		w.note("  store is unavailable for %v: %+v", p, r)
		return Answer{Err: errUnavailable}
	}
	before, existed := w.store.rows[r.Number]
	a := w.store.do(r)
	w.note("  store at %d: %v %+v: %+v", w.store.now, p, r, a)
	if m.late && r.Token != "" {
		w.count(doubleWrites)
	}
	if a.Done {
		w.wrote(m, r, before, existed)
	}
	switch {
	case r.Op == Insert && !a.Done && w.rng.IntN(2) == 0:
		a = Answer{Err: errConflict}
	case w.percent(w.unclear):
		w.count(unclearAnswers)
		a = Answer{Err: errReset}
	}
	if w.seams.answer != nil {
		a = w.seams.answer(w, p, r, a)
	}
	return a
}
