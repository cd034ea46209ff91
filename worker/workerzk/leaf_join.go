package workerzk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/worker/lease"
)

// leafError matches the errors of package lease that it is an instance of.
type leafError struct {
	text string
	is   []error
}

func (e *leafError) Error() string   { return "workerzk: Leaf: " + e.text }
func (e *leafError) Unwrap() []error { return e.is }

func leafFault(is error, format string, args ...any) error {
	return &leafError{fmt.Sprintf(format, args...), []error{is}}
}

// bare is an error's text without the prefix, for an error that has it.
func bare(err error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "workerzk: "), "Leaf: ")
}

// endpoint is the data of a node below forever, as Leaf writes it.
type endpoint struct {
	IP    string `json:"ip"`
	Port  string `json:"port"`
	Stamp int64  `json:"timestamp"` // what its clock showed, in milliseconds since 1970
}

func parseEndpoint(path string, data []byte) (e endpoint, err error) {
	err = json.Unmarshal(data, &e)
	if err == nil && e.Stamp <= 0 {
		err = errors.New("it has no timestamp")
	}
	if err != nil {
		return e, fmt.Errorf("workerzk: Leaf: node %s is %q, want JSON with ip, port and timestamp: %w", path, data, err)
	}
	return e, nil
}

func (m *member) endpoint(stamp int64) []byte {
	at := strings.LastIndexByte(m.address, ':')
	data, _ := json.Marshal(endpoint{m.address[:at], m.address[at+1:], stamp}) // strings and numbers always can be
	return data
}

// parseEntry splits the name of a node below forever: the address, which may have
// dashes, and the number that ZooKeeper put behind it.
func parseEntry(name string) (address string, number int64, ok bool) {
	at := strings.LastIndexByte(name, '-')
	if at < 1 {
		return "", 0, false
	}
	n, err := strconv.ParseUint(name[at+1:], 10, 31)
	return name[:at], int64(n), err == nil
}

// join finds this process's node, checks the clock, and makes the node if there is
// none. A process that started without ZooKeeper has to find the node of its number.
func (m *member) join(ctx context.Context) error {
	for _, path := range []string{m.forever(), m.temporary()} {
		if err := m.client.prepare(ctx, path); err != nil {
			return err
		}
	}
	before, server, after, err := m.compare(ctx)
	if err != nil {
		return err
	}
	if err := m.client.fence(ctx, m.forever()); err != nil {
		return err
	}
	names, err := m.client.names(ctx, m.forever())
	if err != nil {
		return err
	}
	nodes, err := m.client.all(ctx, m.forever(), names)
	if err != nil {
		return err
	}
	own, number := m.own(nodes)
	if m.started && (own == "" || number != m.number) {
		return leafFault(lease.ErrRewound, "%s has no node of %s with number %d, under which the start from %s was: want a restart",
			m.forever(), m.address, m.number, m.config.File)
	}
	if err := m.checkOwn(ctx, own, nodes); err != nil {
		return err
	}
	if err := m.checkPeers(nodes, before, server, after); err != nil {
		return err
	}
	stamp := max(m.present(), m.last)
	if own == "" {
		path, err := m.client.create(ctx, m.forever()+"/"+m.address+"-", m.endpoint(stamp), zk.FlagSequence)
		if err != nil {
			return err // the node is found at the next attempt if it was made
		}
		own = path[strings.LastIndexByte(path, '/')+1:]
		_, number, _ = parseEntry(own)
		m.version = 0
	} else {
		stat, err := m.client.set(ctx, m.forever()+"/"+own, m.endpoint(stamp), nodes[own].stat.Version)
		if err != nil {
			return err
		}
		m.version = stat.Version
	}
	if number > m.limit {
		return leafFault(lease.ErrExhausted, "node %s has number %d, above %d, the largest that the layout allows: "+
			"use a layout with more bits for the worker number; or stop all services named %q and delete %s, so that numbers begin at 0 again",
			m.forever()+"/"+own, number, m.limit, m.name, m.forever())
	}
	m.path, m.number, m.last, m.unanswered = m.forever()+"/"+own, number, stamp, nil
	return nil
}

// own returns this process's node. An answer that was lost can leave two: the one with
// the lower number counts.
func (m *member) own(nodes map[string]node) (own string, number int64) {
	for name := range nodes {
		address, n, ok := parseEntry(name)
		if ok && address == m.address && (own == "" || n < number) {
			own, number = name, n
		}
	}
	return own, number
}

// compare takes the address, and reads this clock beside the server's.
func (m *member) compare(ctx context.Context) (before, server, after int64, err error) {
	if err := m.occupy(ctx); err != nil {
		return 0, 0, 0, err
	}
	before = m.clock().UnixMilli()
	stat, err := m.client.set(ctx, m.temporary()+"/"+m.address, []byte(m.token), -1)
	if err != nil {
		return 0, 0, 0, err
	}
	return before, stat.Mtime, m.clock().UnixMilli(), nil
}

// occupy makes this process's ephemeral node if it is not there. The node of another
// process means that it has the same address.
func (m *member) occupy(ctx context.Context) error {
	path := m.temporary() + "/" + m.address
	for {
		n, err := m.client.get(ctx, path)
		switch {
		case err != nil:
			return err
		case n != nil && string(n.data) == m.token:
			return nil
		case n != nil:
			return leafFault(lease.ErrHeld, "node %s: a process with the address %s is alive, or its session has not timed out: "+
				"want LeafConfig.Address or a port that no other process has", path, m.address)
		}
		if _, err := m.client.create(ctx, path, []byte(m.token), zk.FlagEphemeral); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
}

// checkOwn checks that the clock has passed all that this address has stamped, as far
// as its node and the file know.
func (m *member) checkOwn(ctx context.Context, own string, nodes map[string]node) error {
	if own != "" {
		path := m.forever() + "/" + own
		e, err := parseEndpoint(path, nodes[own].data)
		if err != nil {
			return err
		}
		if err := m.passed(ctx, "node "+path, e.Stamp); err != nil {
			return err
		}
	}
	if f, err := readLeafFile(m.config.File); err == nil && f.address == m.address && f.name == m.name && !m.started {
		return m.passed(ctx, m.config.File, f.stamp)
	}
	return nil // without the file, the node decides
}

// patience is how long a start waits for the clock to pass the own timestamp. Ids may
// lie that much ahead of the clock.
const patience = 5 * time.Second

// passed waits until the clock has passed a timestamp, and fails if that takes long.
func (m *member) passed(ctx context.Context, what string, stamp int64) error {
	for {
		now := m.clock().UnixMilli()
		ahead := time.Duration(stamp-now) * time.Millisecond
		switch {
		case stamp <= now:
			m.from = max(m.from, stamp)
			return nil
		case stamp-now > patience.Milliseconds():
			return leafFault(lease.ErrSkew, "%s has the timestamp %s, which is %v ahead of the clock: ids up to there are made; set the clock right, or start later",
				what, time.UnixMilli(stamp).UTC().Format(time.RFC3339Nano), ahead)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("workerzk: Leaf: wait for the clock to pass the timestamp of %s: %w", what, ctx.Err())
		case <-time.After(min(ahead, 50*time.Millisecond)):
		}
	}
}

// checkPeers compares the clock with the mean of the peers' that reported lately. Each
// is seen by how far it was from the server's clock when it was reported, so that
// the age of reports does not matter.
func (m *member) checkPeers(nodes map[string]node, before, server, after int64) error {
	var sum, live int64
	for name, n := range nodes {
		address, _, ok := parseEntry(name)
		if address == m.address || ok && server-n.stat.Mtime > m.lives.Milliseconds() {
			continue
		}
		e, err := parseEndpoint(m.forever()+"/"+name, n.data)
		if !ok || err != nil {
			m.log().Warn("workerzk: a peer's clock cannot be read, and is left out", "node", m.forever()+"/"+name, "error", err)
			continue
		}
		sum, live = sum+e.Stamp-n.stat.Mtime, live+1
	}
	if live == 0 {
		return nil
	}
	mean := server + sum/live
	ahead, side := before-mean, "ahead of"
	if after < mean {
		ahead, side = mean-after, "behind"
	}
	if ahead > m.config.Threshold.Milliseconds() {
		return leafFault(lease.ErrSkew, "the clock is %v %s the mean of %d peers that reported lately in %s: want %v at most, either way",
			time.Duration(ahead)*time.Millisecond, side, live, m.forever(), m.config.Threshold)
	}
	return nil
}
