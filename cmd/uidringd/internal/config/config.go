// Package config reads the server's configuration from YAML.
//
// [Read] is strict. It reports at once all unknown keys, keys that are given twice, wrong types and
// wrong values: repeated names, secrets that are missing, stores that nothing uses, and what a
// config of the library refuses. What follows from another fault alone is not reported.
// Each fault has its line, its field, its value and the values that are accepted. A
// value that can be a secret is never shown.
//
// testdata/uidringd.yaml shows every key.
package config

import (
	"errors"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/source"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/worker/lease"
)

// Config is what a server serves, and how. Durations are written as Go does: 1m30s.
type Config struct {
	Listen     string   `yaml:"listen"`          // of HTTP; see [Network]
	Redis      *Redis   `yaml:"redis,omitempty"` // nil serves no Redis protocol
	SocketMode Mode     `yaml:"socket_mode"`     // of the files of unix sockets
	Hosts      []string `yaml:"hosts,omitempty"` // names by which browsers and Prometheus reach the pages and metrics
	TLS        *TLS     `yaml:"tls,omitempty"`   // nil is plain HTTP
	Stores     []Store  `yaml:"stores,omitempty"`
	Generators []Entry  `yaml:"generators"`
	Tokens     []Token  `yaml:"tokens,omitempty"` // without any, requests need none
	Limits     Limits   `yaml:"limits"`
	Shutdown   Shutdown `yaml:"shutdown"`
	Log        Log      `yaml:"log"`
}

// Redis says where the Redis protocol is served.
type Redis struct {
	Listen string `yaml:"listen"` // see [Network]
}

// TLS names PEM files. TCP listeners use them, and unix sockets do not. They are read again when they change.
type TLS struct {
	Cert     string `yaml:"cert"`
	Key      string `yaml:"key"`
	ClientCA string `yaml:"client_ca,omitempty"` // a certificate of these authorities admits to all generators and to operations
}

// Store is where numbers and counters are kept. Exactly one of URL, Env and File says
// where: a URL without a password, or the variable or file that has the URL.
type Store struct {
	Name string `yaml:"name"`
	URL  string `yaml:"url,omitempty"`
	Env  string `yaml:"env,omitempty"`
	File string `yaml:"file,omitempty"` // such as a mounted secret

	text string // the URL; never printed
}

// Token lets the bearer of a secret use generators.
type Token struct {
	Name       string   `yaml:"name"`                 // for logs
	SHA256     string   `yaml:"sha256"`               // of the secret, in hexadecimal
	Generators []string `yaml:"generators,omitempty"` // names, or patterns such as order-*
	Operations bool     `yaml:"operations,omitempty"` // the token is for metrics and the status page too
}

// Shutdown says how the server ends after SIGTERM.
type Shutdown struct {
	Delay   time.Duration `yaml:"delay"`   // not ready, and requests are still accepted
	Drain   time.Duration `yaml:"drain"`   // then requests that have begun have this long
	Release time.Duration `yaml:"release"` // then the server gives back numbers and ranges within this time
}

// Log configures the log on standard error.
type Log struct {
	Format   string  `yaml:"format"`         // text or json
	Requests float64 `yaml:"requests_per_s"` // lines about requests, of good ones and of failed ones each; 0 is none
}

// Entry holds the settings of a generator of any kind.
type Entry struct{ Settings }

// MarshalYAML writes the generator's own keys.
func (e Entry) MarshalYAML() (any, error) { return e.Settings, nil }

// Settings are the keys of a generator: a [*Cached], [*Default], [*Slots], [*Segment] or
// [*Tags]. Its kind decides which keys it has.
type Settings interface {
	Common() *Base
	Clock() *Clocked   // nil for those of a counter
	StoreName() string // "" is none
	validate() error   // by the rules of the library
}

// Base is what all generators have.
type Base struct {
	Name     string `yaml:"name"`
	Kind     string `yaml:"kind"`               // cached, default, slots, segment or tags
	IDs      int    `yaml:"ids,omitempty"`      // of one request; 0 is Limits.IDs
	Optional bool   `yaml:"optional,omitempty"` // the server is ready without it
}

// Common returns b.
func (b *Base) Common() *Base { return b }

// Clocked is what generators under a worker number share.
type Clocked struct {
	Layout  bits.Layout   `yaml:"layout,omitempty"`  // zero is what the store remembers, in a new store fleet
	Worker  source.Source `yaml:"worker"`            // with a store, a lease ensures that a fixed number has one holder
	Store   string        `yaml:"store,omitempty"`   // of the worker number
	Numbers *Numbers      `yaml:"numbers,omitempty"` // that a lease may have; nil is all
	Window  time.Duration `yaml:"window,omitempty"`  // of a lease: time reserved ahead; 0 is 10 minutes, or the expiry for a fixed number
	Expiry  time.Duration `yaml:"expiry,omitempty"`  // of a lease: after the last sign of life
	Rate    float64       `yaml:"ids_per_s"`         // of one caller in the long run; 0 is half of the layout's, -1 no limit
}

// Clock returns g.
func (g *Clocked) Clock() *Clocked { return g }

// StoreName returns the store of the worker number.
func (g *Clocked) StoreName() string { return g.Store }

// Cached is a [uid.Cached].
type Cached struct {
	Base          `yaml:",inline"`
	Clocked       `yaml:",inline"`
	BoostPower    int           `yaml:"boost_power,omitempty"` // the default is less than 3 where a ring of 2^3 ticks would never fill
	PaddingFactor int           `yaml:"padding_factor"`
	Schedule      string        `yaml:"schedule,omitempty"`
	MaxBorrow     time.Duration `yaml:"max_borrow"`
	MaxAge        time.Duration `yaml:"max_age"`
}

// Default is a [uid.Default].
type Default struct {
	Base        `yaml:",inline"`
	Clocked     `yaml:",inline"`
	MaxBackward time.Duration `yaml:"max_backward"`
}

// Slots is a [uid.Slots].
type Slots struct {
	Base    `yaml:",inline"`
	Clocked `yaml:",inline"`
	Slots   int `yaml:"slots"`
}

// Counter is what segments and tags share.
type Counter struct {
	Store       string        `yaml:"store"`
	Table       string        `yaml:"table,omitempty"` // leaf_alloc or sequence, of an SQL store
	Step        int64         `yaml:"step,omitempty"`  // 0 is the store's own
	MinStep     int64         `yaml:"min_step,omitempty"`
	MaxStep     int64         `yaml:"max_step"`
	Ahead       time.Duration `yaml:"ahead"`
	LoadAt      int           `yaml:"load_at"`
	LoadTimeout time.Duration `yaml:"load_timeout"`
	Limit       int64         `yaml:"limit"`
}

// Clock returns nil.
func (g *Counter) Clock() *Clocked { return nil }

// StoreName returns the store of the counters.
func (g *Counter) StoreName() string { return g.Store }

// Segment is a [segment.Counter].
type Segment struct {
	Base    `yaml:",inline"`
	Counter `yaml:",inline"`
	Tag     string `yaml:"tag,omitempty"`    // of the counter; empty is the generator's name
	Create  bool   `yaml:"create,omitempty"` // makes the counter if it is missing, and so starts a lost one at 1 again
}

// Tags serves every counter of a store whose tag matches, under its tag.
type Tags struct {
	Base    `yaml:",inline"`
	Counter `yaml:",inline"`
	Match   string        `yaml:"match"` // a pattern such as order-*; see the function Match
	MaxTags int           `yaml:"max_tags"`
	Idle    time.Duration `yaml:"idle"`
}

// DemoFile is the SQLite file of [Demo], and DemoRedis its address of the Redis protocol.
const (
	DemoFile  = "uidring.db"
	DemoRedis = "127.0.0.1:6380"
)

const demo = `
redis: {listen: "` + DemoRedis + `"}
stores: [{name: file, url: ` + DemoFile + `}]
generators:
  - {name: ids, kind: cached, store: file}
  - {name: orders, kind: segment, store: file, create: true}
shutdown: {delay: 0s}
`

// Demo is what is served without a configuration: ids, and orders of a counter, both
// from an SQLite file in the current directory, by HTTP and by the Redis protocol.
func Demo(flags Flags) (*Config, error) {
	c, err := Parse([]byte(demo), flags)
	if faults, ok := errors.AsType[Faults](err); ok { // of the flags, which have no line
		err = errors.New(faults[0].Field + ": " + faults[0].Text)
	}
	return c, err
}

func defaults() *Config {
	return &Config{
		Listen:     "127.0.0.1:8080",
		SocketMode: 0o660,
		Limits: Limits{
			Limits: service.Limits{
				IDs: service.DefaultIDs, RunIDs: service.DefaultRunIDs, Waiting: service.DefaultWaiting, Wait: service.DefaultWait,
			},
			Running:     2000,
			Connections: 1000,
			PerAddress:  500,
			Streams:     20,
			HeaderBytes: 16 << 10,
			Read:        5 * time.Second,
			Write:       30 * time.Second,
			Idle:        2 * time.Minute,
		},
		Shutdown: Shutdown{Delay: 3 * time.Second, Drain: 20 * time.Second, Release: 5 * time.Second},
		Log:      Log{Format: "text", Requests: 10},
	}
}

// kinds make a generator of a kind, with the defaults of that kind.
var kinds = map[string]func() Settings{
	"cached": func() Settings {
		return &Cached{
			Clocked:       newClocked(),
			BoostPower:    uid.DefaultBoostPower,
			PaddingFactor: uid.DefaultPaddingFactor,
			MaxBorrow:     DefaultMaxBorrow,
			MaxAge:        uid.DefaultMaxAge,
		}
	},
	"default": func() Settings { return &Default{Clocked: newClocked(), MaxBackward: uid.DefaultMaxBackward} },
	"slots":   func() Settings { return &Slots{Clocked: newClocked(), Slots: uid.DefaultSlots} },
	"segment": func() Settings { return &Segment{Counter: newCounter()} },
	"tags": func() Settings {
		return &Tags{Counter: newCounter(), Match: "*", MaxTags: segment.DefaultMaxTags, Idle: segment.DefaultIdle}
	},
}

func newClocked() Clocked {
	return Clocked{Worker: source.Source{Kind: source.Lease}, Expiry: lease.DefaultExpiry}
}

func newCounter() Counter {
	return Counter{
		MaxStep:     segment.DefaultMaxStep,
		Ahead:       segment.DefaultAhead,
		LoadAt:      segment.DefaultLoadAt,
		LoadTimeout: segment.DefaultLoadTimeout,
		Limit:       1<<63 - 2,
	}
}
