package protocol

import (
	"errors"
	"fmt"
	"strings"
)

// happening is something that a campaign must have come across.
type happening int

const (
	ticks happening = iota
	borrowings
	staleStamps
	movedStamps
	inserts
	takeovers
	futureFloors
	extensions
	releases
	lateWrites
	doubleWrites
	deniedWrites
	unclearAnswers
	doubtsDone
	doubtsUndone
	doubtsOpen
	doubtfulReleases
	losses
	lossesLeaving
	refusals
	exhaustions
	longPauses
	kills
	outages
	settled
	crowded
	processClones
	doubtfulClones
	sharedWrites
	storeRestores
	rowsDeleted
	told
	repeats
	happenings
)

var happeningNames = [happenings]string{
	ticks:            "ticks stamped",
	borrowings:       "long borrowings",
	staleStamps:      "ticks stamped by holders that had been succeeded",
	movedStamps:      "holders that stamped on under another number",
	inserts:          "new numbers",
	takeovers:        "takeovers",
	futureFloors:     "takeovers with the floor in the future",
	extensions:       "extensions",
	releases:         "releases",
	lateWrites:       "writes done after the wait for them had ended",
	doubleWrites:     "second copies of a write",
	deniedWrites:     "writes that were done and answered as not done",
	unclearAnswers:   "errors for what was done",
	doubtsDone:       "doubts settled as done",
	doubtsUndone:     "doubts settled as never to be done",
	doubtsOpen:       "doubts that stayed open",
	doubtfulReleases: "doubtful releases",
	losses:           "losses",
	lossesLeaving:    "losses while leaving",
	refusals:         "numbers refused as held",
	exhaustions:      "exhaustions",
	longPauses:       "pauses beyond the expiry",
	kills:            "kills",
	outages:          "outages",
	settled:          "holders that had a number in the end",
	crowded:          "holders that all numbers were held against in the end",
	processClones:    "clones",
	doubtfulClones:   "clones of doubts",
	sharedWrites:     "writes that a twin took for its own",
	storeRestores:    "restores",
	rowsDeleted:      "rows deleted",
	told:             "holders that said so",
	repeats:          "repeats",
}

// expected is what must happen in a campaign of each mode. The rest may.
func (m mode) expected() []happening {
	var all []happening
	for h := ticks; h <= crowded; h++ {
		all = append(all, h)
	}
	switch m {
	case clones:
		return append(all, processClones, doubtfulClones, sharedWrites)
	case restores:
		return append(all, storeRestores, told, repeats)
	case deletions:
		return []happening{ticks, staleStamps, movedStamps, takeovers, losses, rowsDeleted, told}
	}
	return all
}

// tally counts what happened.
type tally [happenings]int

func (t *tally) count(h happening) { t[h]++ }

func (t *tally) add(other *tally) {
	for h, n := range other {
		t[h] += n
	}
}

// String lists what happened.
func (t *tally) String() string {
	var b strings.Builder
	for h, n := range t {
		if n > 0 {
			fmt.Fprintf(&b, "\n%9d %s", n, happeningNames[h])
		}
	}
	return b.String()
}

func (o *oracle) count(h happening) { o.tally.count(h) }

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
