package uidstatus

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/uidring/uidring/internal/figures"
	"github.com/uidring/uidring/internal/hosts"
	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/uid"
)

// ErrConfig is matched by every error about a config of this package, and by every error of [New].
var ErrConfig = errors.New("uidstatus: invalid config")

// Config configures a [Page]. A zero field means its default.
type Config struct {
	// More returns the Stats of generators that come and go, such as the tags of segment.Tags, by
	// their names on the page. The page calls More for each response, possibly concurrently. It
	// skips a name that another generator already has.
	More func() map[string]uid.Stats

	// Home is the target of the page's link "Home", such as "../". Empty means no link.
	Home string

	// Hosts are the names under which browsers reach the page, such as
	// ops.example.com. "localhost" and IP addresses need no entry.
	//
	// The page answers a request under any other name with status 403. Otherwise a foreign web
	// page whose name resolves to this server (DNS rebinding) could read the page through an
	// operator's browser.
	//
	// The entry "*" allows every name. Use it only if the app authenticates each
	// request: browsers send no credentials under a foreign name.
	Hosts []string
}

// Validate returns an error that names every invalid field, and matches [ErrConfig].
func (c Config) Validate() error { return c.check(invalid.Of("uidstatus", ErrConfig)).Err() }

// check adds the wrong fields to faults.
func (c Config) check(faults *invalid.List) *invalid.List {
	for i, host := range c.Hosts {
		if !hosts.Valid(host) {
			faults.Add(fmt.Sprintf("Hosts[%d]", i), strconv.Quote(host), "a name without scheme and port, such as ops.example.com, or "+hosts.Any)
		}
	}
	return faults
}

// New returns the status page of the generators. Each key of the map is a name on the page, and
// must be nonempty UTF-8. New reports all faults at once, including a nil generator and an empty
// map without Config.More, in an error that matches [ErrConfig].
//
// New copies the map. The caller closes the generators; the page shows a closed
// generator as Close left it.
func New(generators map[string]Reporter, config Config) (*Page, error) {
	p := &Page{generators: maps.Clone(generators), hosts: hosts.Of(config.Hosts), process: thisProcess(), now: time.Now,
		more: config.More, home: config.Home}

	faults := invalid.Of("uidstatus", ErrConfig)
	if len(p.generators) == 0 && p.more == nil {
		faults.Add("generators", "empty", "one or more, or More")
	}
	for _, name := range slices.Sorted(maps.Keys(p.generators)) {
		faults.Wrap("generators", figures.Check(name, p.generators[name]))
	}
	if err := config.check(faults).Err(); err != nil {
		return nil, err
	}
	return p, nil
}
