package segment

import (
	"time"

	"github.com/uidring/uidring/uid"
)

// Stats returns the generator's counts and state, without a ring. It never waits for the
// store.
func (g *Generator) Stats() uid.Stats { return g.loader.stats() }

func (l *loader) stats() uid.Stats {
	s, name := l.dealer.Stats(), l.store.String()
	l.mu.Lock()
	defer l.mu.Unlock()
	s.Ring, s.Dropped, s.LastError = nil, 0, l.refused
	s.Remaining += l.left(l.rest) + l.left(l.ready)
	s.Loads = &uid.LoadStats{
		From:     name,
		Tag:      l.tag,
		InUse:    l.last.run(),
		Step:     l.pace.Size,
		Loads:    l.loads,
		Failures: l.failures,
		LoadTime: l.took,
		Returned: l.returned,
	}
	if s.Closed {
		s.Remaining = 0
	} else if s.Remaining > l.left(l.last) {
		s.Loads.InUse, s.Loads.Next = l.before.run(), l.last.run()
	}
	if l.load != nil && !l.load.finished() {
		s.Loads.Loading = time.Since(l.load.usage.Now)
	}
	return s
}

// left returns how many ids of s may be issued.
func (l *loader) left(s span) int64 { return max(0, min(s.end, l.end)-s.next) }
