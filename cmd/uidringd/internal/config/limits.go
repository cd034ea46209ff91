package config

import (
	"cmp"
	"math"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// Limits bound the work and the memory that clients can cause, whether they authenticate
// or not. limits.txt says how.
type Limits struct {
	service.Limits `yaml:",inline"`

	Running     int           `yaml:"requests"`     // that are under way at once; probes do not count
	Connections int           `yaml:"connections"`  // at once; another ends the one that is idle longest
	PerAddress  int           `yaml:"per_address"`  // connections of one address at once
	Streams     int           `yaml:"streams"`      // requests of one HTTP/2 connection at once
	HeaderBytes int           `yaml:"header_bytes"` // of a request
	Read        time.Duration `yaml:"read"`         // time that a client has to send a request
	Write       time.Duration `yaml:"write"`        // time to answer, and for the client to read the answer
	Idle        time.Duration `yaml:"idle"`         // time that a connection may stay without a request
}

// DefaultMaxBorrow is less than [uid.DefaultMaxBorrow]: one caller must not date the ids
// of all others hours ahead, nor use up the window of time that the lease reserved.
const DefaultMaxBorrow = time.Minute

// PerCaller returns how many ids one caller may draw of a generator with a layout: a second in
// the long run, 0 for no limit, and at once. At once, that is what half of max_borrow has, or a second.
func (g *Generator) PerCaller(layout bits.Layout) (rate float64, burst int) {
	perSecond := math.Ldexp(1, int(layout.SequenceBits)) / layout.Unit.Seconds()
	rate = cmp.Or(g.Rate, perSecond/2)
	ids := rate
	if g.Kind == "cached" {
		ids = max(ids, perSecond*g.MaxBorrow.Seconds()/2)
	}
	return max(rate, 0), int(min(max(ids, 0), math.MaxInt32))
}

// greatestIDs is the most that Limits.IDs may be: an answer of that many has 20 MB.
const greatestIDs = 1_000_000

// greatestRunIDs is the most that Limits.RunIDs may be, and the most that uidclient asks for.
const greatestRunIDs = 1 << 24

func (l *Limits) check(d *document) {
	between(d, "limits.ids", l.IDs, 1, greatestIDs)
	between(d, "limits.run_ids", l.RunIDs, 1, greatestRunIDs)
	between(d, "limits.requests_per_s", l.Requests, 0, 1e9)
	between(d, "limits.burst", l.Burst, 0, 1e9)
	between(d, "limits.waiting", l.Waiting, 1, 1e6)
	between(d, "limits.requests", l.Running, 1, 1e6)
	between(d, "limits.connections", l.Connections, 1, 1e7)
	between(d, "limits.per_address", l.PerAddress, 1, 1e7)
	between(d, "limits.streams", l.Streams, 1, 1000)
	between(d, "limits.header_bytes", l.HeaderBytes, 1<<10, 1<<20)
	between(d, "limits.read", l.Read, time.Millisecond, time.Hour)
	between(d, "limits.write", l.Write, time.Millisecond, time.Hour)
	between(d, "limits.idle", l.Idle, time.Millisecond, 24*time.Hour)
	between(d, "limits.wait", l.Wait, time.Millisecond, max(l.Write, time.Millisecond)) // else the answer has no time
}
