package workerzk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/internal/leaserow"
	"github.com/uidring/uidring/worker/lease"
)

// DefaultPath is the default of Config.Path.
const DefaultPath = "/uidring/workers"

// Config configures a [Store]. The zero Config is the default, and so is every zero
// field. Errors match [lease.ErrConfig].
type Config struct {
	// Path is the parent of the nodes; empty is DefaultPath. All processes whose ids must
	// differ use the same Path.
	Path string

	// ACL is the access list of the nodes that the Store creates. Empty is open to the
	// world.
	ACL []zk.ACL
}

// New returns a Leaser of numbers in ZooKeeper under DefaultPath, without calling
// ZooKeeper. The Leaser's methods report all faults of the connection and the config
// at once. The caller closes conn after the last generator.
func New(conn *zk.Conn, config lease.Config) *lease.Leaser {
	return lease.New(NewStore(conn, Config{}), config)
}

// Store keeps worker numbers in ZooKeeper. It is a lease.Store. Make one with
// NewStore. It is safe for concurrent use.
type Store struct {
	conn  *zk.Conn
	acl   []zk.ACL // of nodes that are created
	path  string
	fresh leaserow.Queue
}

var (
	_ lease.Store    = (*Store)(nil)
	_ lease.Preparer = (*Store)(nil)
)

// NewStore returns a Store of nodes in ZooKeeper, for lease.New.
func NewStore(conn *zk.Conn, config Config) *Store {
	if len(config.ACL) == 0 {
		config.ACL = zk.WorldACL(zk.PermAll)
	}
	s := &Store{conn: conn, acl: config.ACL, path: cmp.Or(config.Path, DefaultPath)}
	s.fresh = leaserow.Queue{Allot: s.allot, Most: 100}
	return s
}

// String implements lease.Store.
func (s *Store) String() string { return "ZooKeeper " + s.path }

// Check implements lease.Preparer.
func (s *Store) Check() error {
	faults := s.faults()
	names := strings.Split(s.path, "/")
	ok := len(names) > 1 && names[0] == ""
	for _, name := range names[1:] {
		ok = ok && nameFault(name) == ""
	}
	if !ok {
		faults.Add("Path", strconv.Quote(s.path), "a node's full path such as "+DefaultPath)
	}
	return faults.Err()
}

// faults returns the fault of a Store without a connection.
func (s *Store) faults() *invalid.List {
	faults := invalid.Of("workerzk", lease.ErrConfig)
	if s.conn == nil {
		faults.Add("conn", "nil", "one of zk.Connect")
	}
	return faults
}

// nameFault says what is wrong with a node's name.
func nameFault(name string) string {
	switch {
	case name == "" || name == "." || name == "..":
		return "a name that is not empty, . or .."
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r == '/' || !unicode.IsPrint(r) }):
		return "printable characters other than a slash"
	}
	return ""
}

// Prepare implements lease.Preparer: it creates the nodes that are not there.
func (s *Store) Prepare(ctx context.Context, _ *slog.Logger) error {
	if err := s.prepare(ctx, s.numbers()); err != nil {
		return err
	}
	return s.prepare(ctx, s.counts())
}

// Swap implements lease.Store.
func (s *Store) Swap(ctx context.Context, old string, w lease.Write) (done bool, err error) {
	if old == "" {
		return false, nil // no row has it
	}
	return s.write(ctx, old, w)
}

// Insert implements lease.Store. Fresh inserts of a Store share transactions. If another
// process was faster, they try again.
func (s *Store) Insert(ctx context.Context, w lease.Write) (number int64, done bool, err error) {
	if !w.Fresh {
		done, err := s.write(ctx, "", w)
		return w.Number, done, err
	}
	return s.fresh.Insert(ctx, w)
}

// allot makes rows of numbers that were never given, and raises their count, in one transaction.
func (s *Store) allot(ctx context.Context, turns []*leaserow.Turn) error {
	within := turns[0].Within
	for tries := 0; ; tries++ {
		if err := s.fence(ctx, s.path); err != nil {
			return err
		}
		given, err := s.allGiven(ctx)
		if err != nil {
			return err
		}
		next := lease.NewView(0, nil, given, within).Next
		var ops []any
		for _, t := range turns {
			for tries > 0 && next <= within.To { // rows that the count does not cover, as after its loss
				if n, err := s.get(ctx, s.number(next)); err != nil {
					return err
				} else if n == nil {
					break
				}
				next++
			}
			if t.Number = next; next > within.To {
				continue
			}
			t.Write.Number = next
			made, err := s.ops(ctx, t.Write, nil, leaserow.Row{})
			if err != nil {
				return err
			}
			ops = append(ops, made...)
			next++
		}
		if len(ops) == 0 {
			return nil
		}
		count, counted, err := s.count(ctx, within.From, next)
		if err != nil {
			return err
		}
		// If the count has moved since it was read, a number may have been given and its
		// row deleted.
		if counted == given[within.From] {
			err = s.multi(ctx, s.number(turns[0].Number), append(ops, count)...)
			if err == nil {
				for _, t := range turns {
					t.Done = t.Number <= within.To
				}
				return nil
			}
			if !conflict(err) || errors.Is(err, zk.ErrNoNode) { // a parent is gone
				return err
			}
		}
		if err := s.fresh.Collided(ctx); err != nil {
			return err
		}
	}
}

// write writes a row whose token is old. An empty token is that of no row.
func (s *Store) write(ctx context.Context, old string, w lease.Write) (done bool, err error) {
	path := s.number(w.Number)
	// A read without a fence may be old. That is enough for a write, which has a
	// condition, but not to report that nothing was written.
	for fenced := false; ; fenced = true {
		if fenced {
			if err := s.fence(ctx, path); err != nil {
				return false, err
			}
		}
		n, before, err := s.row(ctx, w.Number)
		if err != nil {
			return false, err
		}
		if before.Token != old {
			if fenced {
				return false, nil
			}
			continue
		}
		ops, err := s.ops(ctx, w, n, before)
		if err != nil {
			return false, err
		}
		if n == nil {
			count, _, err := s.count(ctx, w.Within.From, w.Number+1)
			if err != nil {
				return false, err
			}
			ops = append(ops, count)
		}
		err = s.multi(ctx, path, ops...)
		if err == nil || !conflict(err) || n == nil && errors.Is(err, zk.ErrNoNode) { // a parent is gone
			return err == nil, err
		}
	}
}

// ops returns what writes a row and its ephemeral child. n is the row's node, nil if there
// is none, and before what it says. A child of another session is of a holder that this
// write replaces, or of this holder's session before it expired.
func (s *Store) ops(ctx context.Context, w lease.Write, n *node, before leaserow.Row) (ops []any, err error) {
	path, alive, data := s.number(w.Number), s.alive(w.Number), before.After(w).JSON()
	if n == nil {
		ops = append(ops, &zk.CreateRequest{Path: path, Data: data, Acl: s.acl})
	} else {
		ops = append(ops, &zk.SetDataRequest{Path: path, Data: data, Version: n.stat.Version})
	}
	if n != nil && n.stat.NumChildren > 0 {
		child, err := s.get(ctx, alive)
		if err != nil {
			return nil, err
		}
		if child != nil && w.Change == lease.Extend && child.stat.EphemeralOwner == s.conn.SessionID() {
			return ops, nil
		}
		if child != nil {
			ops = append(ops, &zk.DeleteRequest{Path: alive, Version: -1})
		}
	}
	if w.Change != lease.Release {
		ops = append(ops, &zk.CreateRequest{Path: alive, Acl: s.acl, Flags: zk.FlagEphemeral})
	}
	return ops, nil
}

// count returns what raises a count to next, on condition that nobody else changes it, and
// what the count was before.
func (s *Store) count(ctx context.Context, from, next int64) (op any, before int64, err error) {
	path := s.given(from)
	counted, err := s.get(ctx, path)
	if err != nil {
		return nil, 0, err
	}
	if counted == nil {
		return &zk.CreateRequest{Path: path, Data: format(next), Acl: s.acl}, 0, nil
	}
	before, err = parseNumber(path, string(counted.data))
	return &zk.SetDataRequest{Path: path, Data: format(max(before, next)), Version: counted.stat.Version}, before, err
}

// SwapLayout implements lease.Store.
func (s *Store) SwapLayout(ctx context.Context, old, layout string) (string, error) {
	path := s.path + "/layout"
	for {
		if err := s.fence(ctx, path); err != nil {
			return "", err
		}
		n, err := s.get(ctx, path)
		if err != nil {
			return "", err
		}
		remembered := ""
		var op any = &zk.CreateRequest{Path: path, Data: []byte(layout), Acl: s.acl}
		if n != nil {
			remembered = string(n.data)
			op = &zk.SetDataRequest{Path: path, Data: []byte(layout), Version: n.stat.Version}
		}
		if remembered != old || remembered == layout {
			return remembered, nil
		}
		if err := s.multi(ctx, path, op); err == nil || !conflict(err) || errors.Is(err, zk.ErrNoNode) { // a parent is gone
			return layout, err
		}
	}
}

func format(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

// row gets the node of a number, nil if there is none, and what the node says.
func (s *Store) row(ctx context.Context, number int64) (n *node, r leaserow.Row, err error) {
	path := s.number(number)
	if n, err = s.get(ctx, path); n != nil && err == nil {
		r, err = parse(path, n)
	}
	return n, r, err
}

func parse(path string, n *node) (leaserow.Row, error) {
	r, err := leaserow.Parse(n.data)
	if err != nil {
		err = fmt.Errorf("workerzk: node %s: %w", path, err)
	}
	return r, err
}

// shown is the row as package lease reads it. The ephemeral child says that the holder is
// alive.
func shown(number int64, r leaserow.Row, n *node) *lease.Row {
	row := r.Lease(number, n.stat.NumChildren > 0)
	row.Created = n.stat.Ctime
	return &row
}

func (s *Store) numbers() string            { return s.path + "/number" }
func (s *Store) counts() string             { return s.path + "/given" }
func (s *Store) number(number int64) string { return s.numbers() + "/" + leaserow.Digits(number) }
func (s *Store) alive(number int64) string  { return s.number(number) + "/alive" }
func (s *Store) given(from int64) string    { return s.counts() + "/" + leaserow.Digits(from) }

func parseNumber(path, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("workerzk: node %s: %q, want a number", path, text)
	}
	return n, nil
}

// Read implements lease.Store. ZooKeeper shows no clock.
func (s *Store) Read(ctx context.Context, number int64, _ time.Duration) (*lease.Row, int64, error) {
	if err := s.fence(ctx, s.path); err != nil {
		return nil, 0, err
	}
	n, r, err := s.row(ctx, number)
	if n == nil || err != nil {
		return nil, 0, err
	}
	return shown(number, r, n), 0, nil
}

// List implements lease.Store.
func (s *Store) List(ctx context.Context, limit int, _ time.Duration) ([]lease.Row, error) {
	if err := s.fence(ctx, s.path); err != nil {
		return nil, err
	}
	return s.rows(ctx, lease.Bounds{To: 1<<63 - 1}, limit)
}

// Look implements lease.Store.
func (s *Store) Look(ctx context.Context, within lease.Bounds, full bool, _ time.Duration) (lease.View, error) {
	if err := s.fence(ctx, s.path); err != nil {
		return lease.View{}, err
	}
	given, err := s.allGiven(ctx)
	if err != nil {
		return lease.View{}, err
	}
	var rows []lease.Row
	if full {
		rows, err = s.rows(ctx, within, 0)
	} else {
		var names []string
		for _, number := range within.Sample(lease.NewView(0, nil, given, within).Next) {
			names = append(names, leaserow.Digits(number))
		}
		rows, err = s.named(ctx, names)
	}
	view := lease.NewView(0, rows, given, within)
	if !full {
		view.Held = 0
	}
	return view, err
}

// allGiven returns the counts of given numbers by the From of holders' bounds.
func (s *Store) allGiven(ctx context.Context) (given map[int64]int64, err error) {
	names, err := s.names(ctx, s.counts())
	if err != nil {
		return nil, err
	}
	given = map[int64]int64{}
	err = s.each(ctx, s.counts(), names, func(from int64, path string, n *node) (err error) {
		given[from], err = parseNumber(path, string(n.data))
		return err
	})
	return given, err
}

// rows returns the rows within bounds, highest first, at most limit of them; a limit
// below 1 is no limit.
func (s *Store) rows(ctx context.Context, within lease.Bounds, limit int) (rows []lease.Row, err error) {
	names, err := s.names(ctx, s.numbers())
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	slices.Reverse(names)
	names = slices.DeleteFunc(names, func(n string) bool { return n > leaserow.Digits(within.To) || n < leaserow.Digits(within.From) })
	if limit > 0 {
		names = names[:min(limit, len(names))]
	}
	return s.named(ctx, names)
}

// named returns the rows of numbers.
func (s *Store) named(ctx context.Context, names []string) (rows []lease.Row, err error) {
	err = s.each(ctx, s.numbers(), names, func(number int64, path string, n *node) error {
		r, err := parse(path, n)
		rows = append(rows, *shown(number, r, n))
		return err
	})
	return rows, err
}

// atOnce is how many nodes are got at a time.
const atOnce = 16

// each gets children of a node, whose names are numbers, and calls a function with each
// that is not gone.
func (s *Store) each(ctx context.Context, parent string, names []string, call func(number int64, path string, n *node) error) error {
	nodes, errs := make([]*node, len(names)), make([]error, len(names))
	var getting sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for i, name := range names {
		free <- struct{}{}
		getting.Go(func() {
			nodes[i], errs[i] = s.get(ctx, parent+"/"+name)
			<-free
		})
	}
	getting.Wait()
	if err := cmp.Or(errs...); err != nil {
		return err
	}
	for i, n := range nodes {
		if n == nil {
			continue
		}
		path := parent + "/" + names[i]
		number, err := parseNumber(path, names[i])
		if err == nil {
			err = call(number, path, n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
