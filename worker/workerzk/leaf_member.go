package workerzk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/worker/lease"
)

// member is one process of Leaf. Its fields are start's, then run's, then Release's.
type member struct {
	*LeafLeaser
	address string // ip:port
	token   string // of the ephemeral node
	limit   int64
	clock   func() time.Time
	granted func(lease.Grant)

	started    bool // ids are made
	number     int64
	from       int64   // ticks that begin up to then may have been stamped by predecessors
	path       string  // the own node; empty until it is known, after a start from the file
	version    int32   // of the own node
	last       int64   // the last timestamp
	unanswered []int64 // timestamps of reports that were not answered
	held       time.Time
	failed     bool // the last report
	unsaved    bool // the file cannot be written
	lost       bool

	used atomic.Int64 // in milliseconds since 1970; written by Use, read by present

	stop     context.CancelFunc
	done     sync.WaitGroup
	release  sync.Once
	released error
}

// start joins, or uses the file if ZooKeeper stays away.
func (m *member) start(ctx context.Context) error {
	wait := m.config.Wait
	if deadline, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(deadline)/2)
	}
	began, held := time.Now(), false
	for {
		within := wait
		if !held {
			within = max(wait-time.Since(began), 50*time.Millisecond)
		}
		err := m.attempt(ctx, within)
		held = held || errors.Is(err, lease.ErrHeld)
		switch {
		case err == nil:
			m.started = true
			m.save()
			return nil
		case ctx.Err() != nil:
			m.leave()
			return &leafError{fmt.Sprintf("%v: %s", ctx.Err(), bare(err)), []error{ctx.Err(), err}}
		case held && (away(err) || errors.Is(err, lease.ErrHeld)) && time.Since(began) < m.LeafLeaser.held: // its session may end
		case !held && away(err) && time.Since(began) < wait:
		case !held && away(err):
			return m.fromFile(ctx, err)
		default:
			m.leave()
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (m *member) attempt(ctx context.Context, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return m.join(ctx)
}

// fromFile starts with the number of the file. The node is looked for later.
func (m *member) fromFile(ctx context.Context, cause error) error {
	fail := func(err error) error {
		return &leafError{fmt.Sprintf("ZooKeeper is away (%s), and LeafConfig.File cannot be used: %s", bare(cause), bare(err)), []error{cause, err}}
	}
	f, err := readLeafFile(m.config.File)
	if err != nil {
		return fail(err)
	}
	if f.address != m.address || f.name != m.name {
		return fail(fmt.Errorf("%s is of name %q and address %q, want %q and %q", m.config.File, f.name, f.address, m.name, m.address))
	}
	if f.number > m.limit {
		return fail(fmt.Errorf("%s has number %d, above %d, the largest that the layout allows", m.config.File, f.number, m.limit))
	}
	if err := m.passed(ctx, m.config.File, f.stamp); err != nil {
		return fail(err)
	}
	m.started, m.number, m.last, m.failed = true, f.number, f.stamp, true
	m.log().Warn("workerzk: ZooKeeper is away; started with the number of the file", "number", f.number, "file", m.config.File, "error", cause)
	return nil
}

// grant is all time that predecessors have not stamped.
func (m *member) grant() lease.Grant {
	g := lease.Grant{Held: true, Number: m.number}
	if m.from > 0 {
		g.From = time.UnixMilli(m.from + 1)
	}
	return g
}

// present is the timestamp to report: ids up to there may have been made.
func (m *member) present() int64 { return max(m.clock().UnixMilli(), m.used.Load()) }

// Use implements lease.Lease: reports cover what is stamped ahead of the clock.
func (m *member) Use(used, _ time.Time) {
	u := used.Add(time.Millisecond - 1).UnixMilli()
	for before := m.used.Load(); u > before && !m.used.CompareAndSwap(before, u); {
		before = m.used.Load()
	}
}

// run reports a second after the start and then every 3, as Leaf does.
func (m *member) run(ctx context.Context) {
	timer := time.NewTimer(min(time.Second, m.every))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		bounded, cancel := context.WithTimeout(ctx, m.every)
		err := m.report(bounded)
		cancel()
		if ctx.Err() != nil {
			return
		}
		if ends(err) {
			m.lost = true
			err = &leafError{fmt.Sprintf("number %d is lost: %s", m.number, bare(err)), []error{lease.ErrLost, err}}
			m.log().Error("workerzk: no more ids are made", "number", m.number, "node", m.path, "error", err)
			m.granted(lease.Grant{Err: err})
			return
		}
		if err != nil && !m.failed {
			m.log().Warn("workerzk: the clock is not reported; ids continue", "number", m.number, "node", m.path, "error", err)
		} else if err == nil && m.failed {
			m.log().Info("workerzk: the clock is reported again", "number", m.number, "node", m.path)
		}
		m.failed = err != nil
		timer.Reset(m.every)
	}
}

// ends reports whether err says that the number may be another's.
func ends(err error) bool {
	for _, end := range []error{lease.ErrLost, lease.ErrRewound, lease.ErrHeld, lease.ErrSkew} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}

// report writes the timestamp to the file and to the node. Like Leaf, it waits while
// the clock is behind what was reported.
func (m *member) report(ctx context.Context) error {
	stamp := m.present()
	if stamp >= m.last {
		m.last = stamp
		m.save()
	}
	if m.path == "" {
		return m.rejoin(ctx)
	}
	if err := m.occupy(ctx); err != nil {
		return err
	}
	if stamp < m.last {
		return fmt.Errorf("workerzk: Leaf: the clock is %v behind what was reported", time.Duration(m.last-stamp)*time.Millisecond)
	}
	for {
		stat, err := m.client.set(ctx, m.path, m.endpoint(stamp), m.version)
		switch {
		case err == nil:
			m.version, m.unanswered = stat.Version, nil
			return nil
		case unsure(err):
			m.unanswered = append(m.unanswered, stamp)
			return err
		case errors.Is(err, zk.ErrNoNode):
			return leafFault(lease.ErrRewound, "node %s is gone: ZooKeeper was restored from a copy, or the node was deleted", m.path)
		case !errors.Is(err, zk.ErrBadVersion):
			return err
		}
		if err := m.settle(ctx); err != nil {
			return err
		}
	}
}

// settle finds out whose write the node has: one of this process that was not answered,
// or another's.
func (m *member) settle(ctx context.Context) error {
	if err := m.client.fence(ctx, m.path); err != nil {
		return err
	}
	n, err := m.client.get(ctx, m.path)
	if err != nil || n == nil {
		return err // the next write says that the node is gone
	}
	e, err := parseEndpoint(m.path, n.data)
	if err != nil || !slices.Contains(m.unanswered, e.Stamp) {
		return leafFault(lease.ErrLost, "node %s is %q: another process reports there, with the address %s", m.path, n.data, m.address)
	}
	m.version = n.stat.Version
	return nil
}

// rejoin joins after a start from the file. The session of a predecessor that crashed
// may last for a while.
func (m *member) rejoin(ctx context.Context) error {
	err := m.join(ctx)
	if errors.Is(err, lease.ErrHeld) {
		if m.held.IsZero() {
			m.held = time.Now()
		}
		if time.Since(m.held) < m.LeafLeaser.held {
			return errors.New(err.Error()) // not yet the end
		}
	}
	return err
}

// save writes the file. Without it, a start needs ZooKeeper.
func (m *member) save() {
	err := leafFile{m.number, m.last, m.address, m.name}.write(m.config.File)
	if err != nil && !m.unsaved {
		m.log().Warn("workerzk: the file is not written; a start without ZooKeeper will fail", "file", m.config.File, "error", err)
	}
	m.unsaved = err != nil
}

// Release implements lease.Lease: it reports that instants before next are stamped, and
// leaves.
func (m *member) Release(ctx context.Context, next time.Time) error {
	m.release.Do(func() {
		m.stop()
		m.done.Wait()
		if m.lost {
			return
		}
		m.Use(next, next)
		m.Use(time.UnixMilli(m.last), next) // the clock may be behind
		if m.path == "" {                   // started from the file, and not joined since
			m.last = m.present()
			m.save()
			return
		}
		if m.released = m.report(ctx); m.released == nil {
			m.released = m.unoccupy(ctx)
		}
	})
	return m.released
}

// leave removes what a start that failed has left.
func (m *member) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = m.unoccupy(ctx)
}

// unoccupy deletes this process's ephemeral node.
func (m *member) unoccupy(ctx context.Context) error {
	path := m.temporary() + "/" + m.address
	n, err := m.client.get(ctx, path)
	if err != nil || n == nil || string(n.data) != m.token {
		return err
	}
	_, err = do(ctx, m.client, "delete", path, func() (struct{}, error) { return struct{}{}, m.client.conn.Delete(path, n.stat.Version) })
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}
