//go:build linux

package torture

import (
	"fmt"
	"slices"

	"github.com/uidring/uidring/worker/lease/leasestore"
)

// version is the content of a row at some time, as its writer reported before the write.
type version struct {
	holder
	number int64
	token  string
	old    string // the token that it replaced; empty is none
	until  int64
	change leasestore.Change
}

// history returns all versions of each row, in order, and the faults in them. Every write
// names the token that it replaces, so the last version of a row leads to all writes that
// were ever committed.
func history(rows []leasestore.Row, processes []*process) (versions []version, faults []string) {
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
			if v.number < 0 { // a fresh number, which the writer did not know
				v.number = row.Number
			}
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

// holder is one attempt of a process to open a generator, which then holds numbers.
type holder struct {
	host    string
	attempt int64
}

// tenure lasts from a holder's acquisition of a number to the next acquisition. It has the
// time that the database had reserved for the holder. Instants are milliseconds since
// 1970.
type tenure struct {
	holder
	number   int64
	from     int64 // ticks that begin before it are not the holder's
	until    int64 // ticks that end after it were never reserved for the holder
	released bool
	rest     int64 // if released: where the next holder begins
	takeover bool  // the earlier holder had not given the number back
}

// end is the instant after which nothing may be stamped.
func (t *tenure) end() int64 {
	if t.released {
		return t.rest
	}
	return t.until
}

// tenures returns the tenures of a history, in its order, and the faults in it.
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
		case before != nil && before.change == leasestore.Release && v.change == leasestore.Release && v.until == before.until:
			// Given back once more, since the first answer was lost.
		case before == nil || before.change == leasestore.Release || t.holder != v.holder:
			t = &tenure{holder: v.holder, number: v.number, until: v.until}
			if before != nil {
				t.from, t.takeover = before.until, before.change != leasestore.Release
			}
			if v.until < t.from {
				fault("acquired until %d, which was %d before", v.until, t.from)
			}
			if v.change != leasestore.Acquire {
				fault("acquired by a write that is none of a new holder")
			}
			current[v.number] = t
			found = append(found, t)
		case v.change == leasestore.Release:
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
