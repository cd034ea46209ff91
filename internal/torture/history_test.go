//go:build linux

package torture

import (
	"fmt"
	"slices"

	"github.com/uidring/uidring/worker/lease"
)

// version is what a row was once, as who wrote it has told before the write.
type version struct {
	holder
	number int64
	token  string
	old    string // the token that it replaced; empty is none
	until  int64
	change lease.Change
}

// history returns all versions of all rows, in the order of each row's. Every write
// names the token that it replaces, so the row that there is in the end leads to
// all writes that were ever committed. What is not as it must be is returned
// beside them.
func history(rows []lease.Row, processes []*process) (versions []version, faults []string) {
	written := map[string]version{}
	for _, p := range processes {
		for _, v := range p.writes {
			if other, twice := written[v.token]; twice && other != v {
				faults = append(faults, fmt.Sprintf("token %s was written by %v and by %v", v.token, other.holder, v.holder))
			}
			written[v.token] = v
		}
	}
	committed := map[string]bool{}
	for _, row := range rows {
		var chain []version
		for token := row.Token; token != ""; {
			v, known := written[token]
			if !known || v.number != row.Number || committed[token] {
				faults = append(faults, fmt.Sprintf("number %d: nobody wrote token %s, or it was there before", row.Number, token))
				break
			}
			committed[token] = true
			chain = append(chain, v)
			token = v.old
		}
		if len(chain) > 0 && chain[0].until != row.Until {
			faults = append(faults, fmt.Sprintf("number %d is reserved until %d, and %d was written", row.Number, row.Until, chain[0].until))
		}
		slices.Reverse(chain)
		versions = append(versions, chain...)
	}
	for _, p := range processes {
		for _, token := range p.done {
			if !committed[token] {
				faults = append(faults, fmt.Sprintf("%s: token %s is lost, though its write was reported done", p.Host, token))
			}
		}
	}
	return versions, faults
}

// holder is who holds numbers: an attempt of a process to open a generator.
type holder struct {
	host    string
	attempt int64
}

// tenure is the time from which a holder acquired a number until somebody else
// did, and what the database had reserved for it. Instants are milliseconds since
// 1970.
type tenure struct {
	holder
	number   int64
	from     int64 // ticks that begin before it are not the holder's
	until    int64 // ticks that end after it were never reserved for the holder
	released bool
	rest     int64 // if released: where the next holder begins
	takeover bool  // the holder before had not given the number back
	used     int64 // the last tick known to have been stamped ends there; 0 is none
}

// end is the instant after which nothing may be stamped.
func (t *tenure) end() int64 {
	if t.released {
		return t.rest
	}
	return t.until
}

// tenures are found by the history, in its order. What the history says that must
// not happen is returned beside them.
func tenures(history []version) (found []*tenure, faults []string) {
	rows := map[int64]*version{}   // by number, as last seen
	current := map[int64]*tenure{} // by number
	for i := range history {
		v := &history[i]
		fault := func(format string, args ...any) {
			faults = append(faults, fmt.Sprintf("number %d, written by %v: ", v.number, v.holder)+fmt.Sprintf(format, args...))
		}
		before, t := rows[v.number], current[v.number]
		rows[v.number] = v
		switch {
		case before != nil && before.change == lease.Release && v.change == lease.Release && v.until == before.until:
			// Given back once more, since the first answer was lost.
		case before == nil || before.change == lease.Release || t.holder != v.holder:
			t = &tenure{holder: v.holder, number: v.number, until: v.until}
			if before != nil {
				t.from, t.takeover = before.until, before.change != lease.Release
			}
			if v.until < t.from {
				fault("acquired until %d, which was %d before", v.until, t.from)
			}
			if v.change != lease.Acquire {
				fault("acquired by a write that is none of a new holder")
			}
			current[v.number] = t
			found = append(found, t)
		case v.change == lease.Release:
			t.released, t.rest = true, v.until
			if t.rest < t.from || t.rest > t.until {
				fault("given back until %d, want %d to %d", t.rest, t.from, t.until)
			}
		default:
			if v.until < before.until {
				fault("extended until %d, which was %d before", v.until, before.until)
			}
			t.until = max(t.until, v.until)
		}
	}
	return found, faults
}
