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

	Running     int           `yaml:"requests" range:"1 to 1000000"`        // that are under way at once; probes do not count
	Connections int           `yaml:"connections" range:"1 to 10000000"`    // at once; another ends the one that is idle longest
	PerAddress  int           `yaml:"per_address" range:"1 to 10000000"`    // connections of one address at once
	Streams     int           `yaml:"streams" range:"1 to 1000"`            // requests of one HTTP/2 connection at once
	HeaderBytes int           `yaml:"header_bytes" range:"1024 to 1048576"` // of a request
	Read        time.Duration `yaml:"read" range:"1ms to 1h0m0s"`           // time that a client has to send a request
	Write       time.Duration `yaml:"write" range:"1ms to 1h0m0s"`          // time to answer, and for the client to read the answer
	Idle        time.Duration `yaml:"idle" range:"1ms to 24h0m0s"`          // time that a connection may stay without a request
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
