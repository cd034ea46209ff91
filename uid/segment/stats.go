package segment

import "time"

// A Range is the ids from First up to but not including End. The zero Range is
// empty. In the Stats of [Striped], a Range has values of the store's counter.
type Range struct{ First, End int64 }

// Stats are the counts and the state of a generator. Ids issued meanwhile may be
// missing.
type Stats struct {
	Store, Tag    string
	Issued        int64         // ids issued
	Starved       int64         // calls that found no id ready
	RejectedTakes int64         // calls that failed
	Waited        time.Duration // sum of the waits of all calls
	Closed        bool          // no further ids are issued

	Remaining int64         // ids that are loaded and not issued
	InUse     Range         // the range that ids come from
	Next      Range         // the range after InUse; zero if it is not loaded
	Loading   time.Duration // how long the load under way has taken; 0 without one

	Step      int64         // ids of the last range
	Loads     int64         // requests for a range
	Failures  int64         // requests that failed
	LoadTime  time.Duration // of the last request
	Returned  int64         // ids that Close gave back to the store
	LastError error         // why no range can be loaded; nil if one can
}

// Stats returns the generator's counts and state. It never waits for the store.
func (g *Generator) Stats() Stats { return g.loader.stats() }

func (l *loader) stats() Stats {
	d, name := l.dealer.Stats(), l.store.String()
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Stats{
		Store:         name,
		Tag:           l.tag,
		Issued:        d.Ring.Taken,
		Starved:       d.Starved,
		RejectedTakes: d.Rejected,
		Waited:        d.Waited,
		Closed:        d.Closed,
		Remaining:     d.Ring.Remaining + l.left(l.rest) + l.left(l.ready),
		InUse:         l.last,
		Step:          l.pace.Size,
		Loads:         l.loads,
		Failures:      l.failures,
		LoadTime:      l.took,
		Returned:      l.returned,
		LastError:     l.refused,
	}
	if s.Closed {
		s.Remaining = 0
	} else if s.Remaining > l.left(span{l.last.First, l.last.End}) {
		s.InUse, s.Next = l.before, l.last
	}
	if l.load != nil && !l.load.finished() {
		s.Loading = time.Since(l.load.usage.Now)
	}
	return s
}

// left returns how many ids of s may be issued.
func (l *loader) left(s span) int64 { return max(0, min(s.end, l.end)-s.next) }
