package protocol

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// happening is something that may happen in a run.
type happening string

const (
	ticks            happening = "ticks stamped"
	borrowings       happening = "long borrowings"
	staleStamps      happening = "ticks stamped by holders that had been succeeded"
	movedStamps      happening = "holders that stamped on under another number"
	inserts          happening = "new numbers"
	takeovers        happening = "takeovers"
	futureFloors     happening = "takeovers with the floor in the future"
	extensions       happening = "extensions"
	releases         happening = "releases"
	lateWrites       happening = "writes done after the wait for them had ended"
	doubleWrites     happening = "second copies of a write"
	deniedWrites     happening = "writes that were done and answered as not done"
	unclearAnswers   happening = "errors for what was done"
	doubtsDone       happening = "doubts settled as done"
	doubtsUndone     happening = "doubts settled as never to be done"
	doubtsOpen       happening = "doubts that stayed open"
	doubtfulReleases happening = "doubtful releases"
	losses           happening = "losses"
	lossesLeaving    happening = "losses while leaving"
	refusals         happening = "numbers refused as held"
	exhaustions      happening = "exhaustions"
	longPauses       happening = "pauses beyond the expiry"
	kills            happening = "kills"
	outages          happening = "outages"
	settled          happening = "holders that had a number in the end"
	crowded          happening = "holders that all numbers were held against in the end"
	processClones    happening = "clones"
	doubtfulClones   happening = "clones of doubts"
	sharedWrites     happening = "writes that a twin took for its own"
	storeRestores    happening = "restores"
	rowsDeleted      happening = "rows deleted"
	told             happening = "holders that said so"
	repeats          happening = "repeats"
)

// always is what must happen in a campaign, whether or not it keeps to the promise.
var always = []happening{
	ticks, borrowings, staleStamps, movedStamps, inserts, takeovers, futureFloors, extensions, releases,
	lateWrites, doubleWrites, deniedWrites, unclearAnswers, doubtsDone, doubtsUndone, doubtsOpen,
	doubtfulReleases, losses, lossesLeaving, refusals, exhaustions, longPauses, kills, outages, settled, crowded,
}

// expected is what must happen in a campaign of each mode. The rest may.
var expected = map[mode][]happening{
	promise:   always,
	clones:    append([]happening{processClones, doubtfulClones, sharedWrites}, always...),
	restores:  append([]happening{storeRestores, told, repeats}, always...),
	deletions: {ticks, staleStamps, movedStamps, takeovers, losses, rowsDeleted, told},
}

// tally counts what happened.
type tally map[happening]int

func (t tally) add(other tally) {
	for h, n := range other {
		t[h] += n
	}
}

// String lists what happened.
func (t tally) String() string {
	var b strings.Builder
	for _, h := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(&b, "\n%9d %s", t[h], h)
	}
	return b.String()
}

func (o *oracle) count(h happening) { o.tally[h]++ }

func (o *oracle) countWrite(m message, r Request, before record, existed bool) {
	p := m.to
	switch {
	case r.Op == Insert:
		o.count(inserts)
	case r.Release:
		o.count(releases)
	case r.Acquire:
		o.count(takeovers)
		if existed && before.until > o.w.store.now {
			o.count(futureFloors)
		}
	default:
		o.count(extensions)
	}
	if !p.waiting || p.calls != m.call {
		o.count(lateWrites)
	}
}

func (o *oracle) countStamps(p *process, number, from, until int64) {
	n := int((until - from) / o.w.tick)
	o.tally[ticks] += n
	if r, exists := o.w.store.rows[number]; exists && !o.mine(p, r.token) {
		o.tally[staleStamps] += n
	}
	if p.moved {
		o.count(movedStamps)
	}
}

func (o *oracle) countAnswer(p *process, before *Holder, r Request, a Answer, err error) {
	switch {
	case errors.Is(err, ErrLost):
		o.count(losses)
	case errors.Is(err, ErrHeld):
		o.count(refusals)
	case errors.Is(err, ErrExhausted):
		o.count(exhaustions)
	}
	if a.Err == nil && !a.Done && o.done[r.Token] {
		o.count(deniedWrites)
	}
	if r.Release && (a.Err != nil || !a.Done) {
		o.count(doubtfulReleases)
	}
	if r.Op != Read || a.Err != nil {
		return
	}
	if before.held && !p.holder.held && p.state == leaving {
		o.count(lossesLeaving)
	}
	if len(before.doubts) == 0 {
		return
	}
	token := ""
	if len(a.Rows) > 0 {
		token = a.Rows[0].Token
	}
	switch {
	case before.doubted(token):
		o.count(doubtsDone)
		if len(o.owners[token]) > 1 {
			o.count(sharedWrites)
		}
	case before.tried != nil && before.tried.old == token:
		o.count(doubtsOpen)
	default:
		o.count(doubtsUndone)
	}
}
