package protocol

import (
	"errors"
	"fmt"
	"slices"
)

// breach is a way in which a run breaks the promise.
type breach string

const (
	repeated  breach = "repeat"    // a tick of a number was stamped twice
	uncovered breach = "uncovered" // a tick was stamped, or granted, that its holder had not reserved
	unowned   breach = "unowned"   // a tick was stamped outside the grant
	overlap   breach = "overlap"   // a tick was granted to two
	disorder  breach = "disorder"  // a holder's stamps went back
	lowered   breach = "lowered"   // a row says less than was stamped
	regrant   breach = "regrant"   // a grant shrank or moved while it was held
	needless  breach = "needless"  // a number was given up that was still held
	silent    breach = "silent"    // a holder went on with a row that is not its own
	rewound   breach = "rewound"   // time is said to have gone back, and it had not
	premature breach = "premature" // a round is said to be at its end, and is not
	endless   breach = "endless"   // a round, or the wait for a number, does not end
)

// violation is what a run found.
type violation struct {
	breach breach
	text   string
}

// oracle knows all that happened, and checks it after each step.
type oracle struct {
	w      *world
	wanted []breach // what else is found is passed over; nil is all
	broken *violation
	lax    bool // the store was restored: ticks may repeat, and are counted
	tally  tally

	owners  map[string][]*process // of each token
	done    map[string]bool       // tokens that were written
	claims  map[int64][]*span     // granted, by number
	spans   map[int64][]*span     // stamped, by number
	top     map[int64]int64       // end of the last tick stamped, by number
	shared  map[int64]int64       // by number: twins own ticks before it together
	tracing bool
	trace   []string
}

// span is a row of ticks that one process stamped, or that was granted to it and remains
// its own.
type span struct {
	by          *process
	from, until int64
}

func newOracle(w *world) oracle {
	return oracle{
		w:      w,
		tally:  tally{},
		owners: map[string][]*process{},
		done:   map[string]bool{},
		claims: map[int64][]*span{},
		spans:  map[int64][]*span{},
		top:    map[int64]int64{},
		shared: map[int64]int64{},
	}
}

func (o *oracle) note(format string, args ...any) {
	if o.tracing {
		o.trace = append(o.trace, fmt.Sprintf(format, args...))
	}
}

func (o *oracle) fail(b breach, format string, args ...any) {
	if o.broken == nil && (o.wanted == nil || slices.Contains(o.wanted, b)) {
		o.broken = &violation{b, fmt.Sprintf(format, args...)}
		o.note("%s: %s", b, o.broken.text)
	}
}

// mint records who makes a token.
func (o *oracle) mint(p *process, token string) { o.owners[token] = append(o.owners[token], p) }

func (o *oracle) mine(p *process, token string) bool { return slices.Contains(o.owners[token], p) }

// parted records that q is a clone of p. Ticks that either may own from before
// are theirs together.
func (o *oracle) parted(p, q *process) {
	h := &p.holder
	if h.number < 0 {
		return
	}
	until := o.shared[h.number]
	share := func(token string) {
		until = max(until, o.w.pledged[token])
		o.mint(q, token)
		o.count(doubtfulClones)
	}
	if c := p.claim; c != nil {
		until = max(until, c.until)
		twin := *c
		twin.by = q
		q.claim = &twin
		o.claims[h.number] = append(o.claims[h.number], q.claim)
		o.mint(q, h.token)
	}
	for _, d := range h.doubts {
		share(d.token)
	}
	if p.waiting && p.request.Token != "" {
		share(p.request.Token)
	}
	o.shared[h.number] = until
	o.count(processClones)
}

// wrote records a write that the store has done.
func (o *oracle) wrote(m message, r Request, before record, existed bool) {
	o.done[r.Token] = true
	o.countWrite(m, r, before, existed)
	for _, p := range o.owners[r.Token] {
		p.reserved[r.Number] = max(p.reserved[r.Number], r.Until)
	}
	o.covers(r.Number)
	for _, p := range o.w.slots {
		if p.owes != nil && p.holder.number == r.Number && p.expects(r.Token) {
			p.owes = nil // a copy of its own write came late
		}
	}
}

// covers checks that the row of a number covers all ticks stamped of it.
func (o *oracle) covers(number int64) {
	r, exists := o.w.store.rows[number]
	if top := o.top[number]; exists && r.until < top && top > o.shared[number] && !o.lax {
		o.fail(lowered, "the row of %d says %d, and ticks up to %d are stamped", number, r.until, top)
	}
}

// left records that p will not stamp any more. Of what it owned it keeps what it
// has stamped.
func (o *oracle) left(p *process) {
	if c := p.claim; c != nil {
		c.until = max(c.from, min(c.until, p.last))
	}
	p.claim, p.owes = nil, nil
}

// own records what p owns now.
func (o *oracle) own(p *process) {
	g, held := p.holder.Grant()
	if !held || p.state == leaving {
		p.claim = nil
		return
	}
	c := p.claim
	if c == nil {
		c = &span{by: p, from: g.From, until: g.From}
		p.claim = c
		o.claims[g.Number] = append(o.claims[g.Number], c)
	}
	if c.from != g.From || c.until > g.Until || !slices.Contains(o.claims[g.Number], c) {
		o.fail(regrant, "%v %s, and owned [%d, %d) before", p, p.owns(), c.from, c.until)
	}
	if c.until == g.Until {
		return
	}
	c.until = g.Until
	if c.until > p.reserved[g.Number] {
		o.fail(uncovered, "%v %s, and has reserved only up to %d", p, p.owns(), p.reserved[g.Number])
	}
	for _, d := range o.claims[g.Number] {
		until := min(c.until, d.until)
		if d != c && until > max(c.from, d.from) && until > o.shared[g.Number] && !o.lax {
			o.fail(overlap, "%v %s, and [%d, %d) was granted to %v", p, p.owns(), d.from, d.until, d.by)
		}
	}
}

// stamped records ticks that p has stamped.
func (o *oracle) stamped(p *process, g Grant, from, until int64) {
	n := g.Number
	if from < p.last {
		o.fail(disorder, "%v stamps %d after %d", p, from, p.last)
	}
	if until > p.reserved[n] {
		o.fail(uncovered, "%v stamps up to %d of %d, and has reserved only up to %d", p, until, n, p.reserved[n])
	}
	if c := p.claim; c == nil || from < c.from || until > c.until {
		o.fail(unowned, "%v stamps [%d, %d) of %d, and %s", p, from, until, n, p.owns())
	}
	var last *span
	for _, s := range o.spans[n] {
		if end := min(until, s.until); end > max(from, s.from) && end > o.shared[n] {
			if !o.lax {
				o.fail(repeated, "%v stamps [%d, %d) of %d, and %v has stamped [%d, %d)", p, from, until, n, s.by, s.from, s.until)
			}
			o.note("a repeat")
			o.count(repeats)
		}
		if s.by == p && s.until == from {
			last = s
		}
	}
	if last != nil {
		last.until = until
	} else {
		o.spans[n] = append(o.spans[n], &span{p, from, until})
	}
	o.top[n] = max(o.top[n], until)
	o.covers(n)
	if _, exists := o.w.store.rows[n]; !exists && o.w.epoch == 0 {
		o.fail(lowered, "%v stamps of %d, which has no row", p, n)
	}
	o.countStamps(p, n, from, until)
}

// took checks what p made of an answer. before is what its holder was.
func (o *oracle) took(p *process, before Holder, r Request, a Answer, done bool, err error, epoch int) {
	o.countAnswer(p, &before, r, a, err)
	isLost, isRewound := errors.Is(err, ErrLost), errors.Is(err, ErrRewound)
	if r.Op == Read && a.Err == nil && before.held && p.state == up {
		exists, mine, less := len(a.Rows) > 0, false, true
		if exists {
			row := a.Rows[0]
			// Only a backup can bring back a token of p that p has replaced.
			mine = o.mine(p, row.Token) && (!o.lax || before.token == row.Token || before.doubted(row.Token))
			less = row.Until < before.grant.Until
		}
		switch {
		case mine && isLost:
			o.fail(needless, "%v gives up %d, whose row has its own token: %v", p, r.Number, err)
		case !mine && !isLost:
			o.fail(silent, "%v goes on, and the row of %d is not its own: %v", p, r.Number, a.Rows)
		case !mine && isRewound != less:
			o.fail(rewound, "%v had reserved %d up to %d, reads %v and says %v", p, r.Number, before.grant.Until, a.Rows, err)
		}
	}
	if isRewound && o.w.mode == promise {
		o.fail(rewound, "nobody has set the store back, and %v says %v", p, err)
	}
	if p.owes != nil && err != nil && errors.Is(err, p.owes) {
		p.owes = nil
		o.count(told)
	}
	if isLost {
		p.moved = true
	}
	if done && p.owes != nil && epoch == o.w.epoch {
		o.fail(silent, "%v ends a round well, and should have said %v", p, p.owes)
	}
	if done && p.holder.held != (p.state == up) {
		o.fail(premature, "%v is done and %s", p, p.owns())
	}
	o.own(p)
}
