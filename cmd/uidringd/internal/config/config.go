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

// Config is what a server serves, and how. Durations are written as Go does: 1m30s. The tag range has the
// least and the greatest value of a key.
type Config struct {
	Listen     string      `yaml:"listen"`          // of HTTP; see [Network]
	Redis      *Redis      `yaml:"redis,omitempty"` // nil serves no Redis protocol
	SocketMode Mode        `yaml:"socket_mode"`     // of the files of unix sockets
	Hosts      []string    `yaml:"hosts,omitempty"` // names by which browsers and Prometheus reach the pages and metrics
	TLS        *TLS        `yaml:"tls,omitempty"`   // nil is plain HTTP
	Stores     []Store     `yaml:"stores,omitempty"`
	Generators []Generator `yaml:"generators"`
	Tokens     []Token     `yaml:"tokens,omitempty"` // without any, requests need none
	Limits     Limits      `yaml:"limits"`
	Shutdown   Shutdown    `yaml:"shutdown"`
	Log        Log         `yaml:"log"`
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
	Delay   time.Duration `yaml:"delay" range:"0s to 1h0m0s"`    // not ready, and requests are still accepted
	Drain   time.Duration `yaml:"drain" range:"1ms to 1h0m0s"`   // then requests that have begun have this long
	Release time.Duration `yaml:"release" range:"1ms to 1h0m0s"` // then the server gives back numbers and ranges within this time
}

// Log configures the log on standard error.
type Log struct {
	Format   string  `yaml:"format"`                              // text or json
	Requests float64 `yaml:"requests_per_s" range:"0 to 1000000"` // lines about requests, of good ones and of failed ones each; 0 is none
}

// Generator has the keys of generators of all kinds. The tag kinds names the kinds that have a
// key; a key without the tag is of all kinds. A Generator has the defaults of the keys that its kind does not have.
type Generator struct {
	Name     string `yaml:"name"`
	Kind     string `yaml:"kind"`                               // one of kinds
	IDs      int    `yaml:"ids,omitempty" range:"0 to 1000000"` // of one request; 0 is Limits.IDs
	Optional bool   `yaml:"optional,omitempty"`                 // the server is ready without it

	Layout  bits.Layout   `yaml:"layout,omitempty" kinds:"cached, default, slots"`  // zero is what the store remembers, in a new store fleet
	Worker  source.Source `yaml:"worker" kinds:"cached, default, slots"`            // with a store, a lease ensures that a fixed number has one holder
	Store   string        `yaml:"store,omitempty"`                                  // of the worker number, or of the counters
	Numbers *Numbers      `yaml:"numbers,omitempty" kinds:"cached, default, slots"` // that a lease may have; nil is all
	Window  time.Duration `yaml:"window,omitempty" kinds:"cached, default, slots"`  // of a lease: time reserved ahead; 0 is 10 minutes, or the expiry for a fixed number
	Expiry  time.Duration `yaml:"expiry,omitempty" kinds:"cached, default, slots"`  // of a lease: after the last sign of life
	Rate    float64       `yaml:"ids_per_s" kinds:"cached, default, slots"`         // of one caller in the long run; 0 is half of the layout's, -1 no limit

	BoostPower    int           `yaml:"boost_power,omitempty" kinds:"cached"` // the default is less than 3 where a ring of 2^3 ticks would never fill
	PaddingFactor int           `yaml:"padding_factor" kinds:"cached"`
	Schedule      string        `yaml:"schedule,omitempty" kinds:"cached"`
	MaxBorrow     time.Duration `yaml:"max_borrow" kinds:"cached"`
	MaxAge        time.Duration `yaml:"max_age" kinds:"cached"`

	MaxBackward time.Duration `yaml:"max_backward" kinds:"default"`

	Table       string        `yaml:"table,omitempty" kinds:"segment, tags"` // leaf_alloc or sequence, of an SQL store
	Step        int64         `yaml:"step,omitempty" kinds:"segment, tags"`  // 0 is the store's own
	MinStep     int64         `yaml:"min_step,omitempty" kinds:"segment, tags"`
	MaxStep     int64         `yaml:"max_step" kinds:"segment, tags"`
	Ahead       time.Duration `yaml:"ahead" kinds:"segment, tags"`
	LoadAt      int           `yaml:"load_at" kinds:"segment, tags"`
	LoadTimeout time.Duration `yaml:"load_timeout" kinds:"segment, tags"`
	Limit       int64         `yaml:"limit" kinds:"segment, tags"`

	Tag    string `yaml:"tag,omitempty" kinds:"segment"`    // of the counter; empty is the generator's name
	Create bool   `yaml:"create,omitempty" kinds:"segment"` // makes the counter if it is missing, and so starts a lost one at 1 again

	Slots int `yaml:"slots" kinds:"slots"`

	Match   string        `yaml:"match" kinds:"tags"` // a pattern such as order-*, whose counters are served under their tags; see the function Match
	MaxTags int           `yaml:"max_tags" kinds:"tags"`
	Idle    time.Duration `yaml:"idle" kinds:"tags"`
}

// kinds are those of generators: a [uid.Cached], a [uid.Default], a [segment.Counter], a
// [uid.Slots], and all counters of a store whose tags match a pattern.
const kinds = "cached, default, segment, slots, tags"

// Clocked reports whether the ids carry a time, and are made under a worker number. Others are those of counters.
func (g *Generator) Clocked() bool {
	return g.Kind == "cached" || g.Kind == "default" || g.Kind == "slots"
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

func defaultGenerator() Generator {
	return Generator{
		Worker:        source.Source{Kind: source.Lease},
		Expiry:        lease.DefaultExpiry,
		BoostPower:    uid.DefaultBoostPower,
		PaddingFactor: uid.DefaultPaddingFactor,
		MaxBorrow:     DefaultMaxBorrow,
		MaxAge:        uid.DefaultMaxAge,
		MaxBackward:   uid.DefaultMaxBackward,
		MaxStep:       segment.DefaultMaxStep,
		Ahead:         segment.DefaultAhead,
		LoadAt:        segment.DefaultLoadAt,
		LoadTimeout:   segment.DefaultLoadTimeout,
		Limit:         1<<63 - 2,
		Slots:         uid.DefaultSlots,
		Match:         "*",
		MaxTags:       segment.DefaultMaxTags,
		Idle:          segment.DefaultIdle,
	}
}
