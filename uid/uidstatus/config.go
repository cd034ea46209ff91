package uidstatus

import (
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

// Config configures a [Page]. Zero fields take their default values.
type Config struct {
	// More returns the Stats of generators that come and go, such as those that a segment.Tags
	// opens for its tags, keyed by their names on the page. The page calls More for each response,
	// possibly concurrently. It skips a name that another generator already has.
	More func() map[string]uid.Stats

	// Home is the target of the page's "Home" link, such as "../". Empty means no link.
	Home string

	// Hosts are the host names at which browsers reach the page, such as ops.example.com.
	// "localhost" and IP addresses need no entry.
	//
	// The page responds to a request for any other host with status 403. Otherwise, a malicious
	// site whose name resolves to this server (DNS rebinding) could read the page through an
	// operator's browser.
	//
	// The entry "*" allows every name. Use it only if the app authenticates each request: browsers
	// do not send the app's credentials to another site's host name.
	Hosts []string
}

// Validate reports every invalid field in one error, which matches [uid.ErrConfig].
func (c Config) Validate() error { return c.check(invalid.Of("uidstatus")).Err() }

// check adds the wrong fields to faults.
func (c Config) check(faults *invalid.List) *invalid.List {
	for i, host := range c.Hosts {
		if !hosts.Valid(host) {
			faults.Add(fmt.Sprintf("Hosts[%d]", i), strconv.Quote(host), "a name without scheme or port, such as ops.example.com, or "+hosts.Any)
		}
	}
	return faults
}

// New returns a status page for the generators. Each key of the map is a name on the page, and must
// be nonempty UTF-8. The error names everything that is invalid, including a nil generator and an
// empty map without Config.More, and matches [uid.ErrConfig].
//
// New copies the map. The caller closes the generators; the page keeps showing the last Stats of a
// closed generator.
func New(generators map[string]uid.Reporter, config Config) (*Page, error) {
	p := &Page{generators: maps.Clone(generators), hosts: hosts.Of(config.Hosts), process: thisProcess(), now: time.Now,
		more: config.More, home: config.Home}

	faults := invalid.Of("uidstatus")
	if len(p.generators) == 0 && p.more == nil {
		faults.Add("generators", "empty", "one or more, or Config.More")
	}
	for _, name := range slices.Sorted(maps.Keys(p.generators)) {
		faults.Wrap("generators", figures.Check(name, p.generators[name]))
	}
	if err := config.check(faults).Err(); err != nil {
		return nil, err
	}
	return p, nil
}
