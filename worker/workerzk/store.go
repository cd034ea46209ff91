package workerzk

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/internal/leaserow"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// DefaultPath is the default of Config.Path.
const DefaultPath = "/uidring/workers"

// Config configures [NewStore]. Zero fields take their default values. Errors about it match
// [lease.ErrConfig].
type Config struct {
	// Path is the absolute path of the nodes' parent; empty means DefaultPath. All processes whose
	// ids must differ must use the same Path.
	Path string

	// ACL applies to the nodes that the Store creates. If ACL is empty, the nodes are open to the
	// world.
	ACL []zk.ACL
}

// Validate reports every invalid field in one error, which matches [lease.ErrConfig].
func (c Config) Validate() error {
	faults := invalid.Of("workerzk")
	parent, names, _ := strings.Cut(cmp.Or(c.Path, DefaultPath), "/")
	ok := parent == "" && utf8.ValidString(names) && !strings.ContainsFunc(names, func(r rune) bool { return !unicode.IsPrint(r) })
	for name := range strings.SplitSeq(names, "/") {
		ok = ok && name != "" && name != "." && name != ".."
	}
	if !ok {
		faults.Add("Path", strconv.Quote(c.Path), "a node's full path such as "+DefaultPath)
	}
	return faults.Err()
}

// Perms are the permissions (create, delete, read and write) that a user needs on the nodes and
// their nearest existing ancestor to do what a store from [NewStore] does.
const Perms = zk.PermCreate | zk.PermDelete | zk.PermRead | zk.PermWrite

// ACL returns Perms as zkCli.sh writes them.
func ACL() string { return "cdrw" }

// NewLeaser returns a Leaser for numbers in ZooKeeper under DefaultPath. NewLeaser itself does
// not contact ZooKeeper. For another path, pass a store from NewStore to lease.New. Close conn
// after closing the last generator.
func NewLeaser(conn *zk.Conn, config lease.Config) *lease.Leaser {
	return lease.New(NewStore(conn, Config{}), config)
}

// store is a leasestore.Store in ZooKeeper.
type store struct {
	conn *zk.Conn
	acl  []zk.ACL // of nodes that are created
	path string

	sessions sync.Map // by number, the session whose child the row has, as this store's last write left it; written by write, read by ops
}

// NewStore returns a store for lease.New that keeps its rows as nodes in ZooKeeper. It is safe for
// concurrent use.
func NewStore(conn *zk.Conn, config Config) leasestore.Preparer {
	if len(config.ACL) == 0 {
		config.ACL = zk.WorldACL(zk.PermAll)
	}
	return &store{conn: conn, acl: config.ACL, path: cmp.Or(config.Path, DefaultPath)}
}

func (s *store) String() string { return "ZooKeeper " + s.path }

func (s *store) Check() error {
	faults := invalid.Of("workerzk")
	if s.conn == nil {
		faults.Add("conn", "nil", "a connection from zk.Connect")
	}
	faults.Join(Config{Path: s.path}.Validate())
	return faults.Err()
}

// Prepare implements leasestore.Preparer: it creates the missing nodes.
func (s *store) Prepare(ctx context.Context, _ *slog.Logger) error {
	if err := s.prepare(ctx, s.numbers()); err != nil {
		return err
	}
	return s.prepare(ctx, s.counts())
}

func (s *store) Swap(ctx context.Context, old string, w leasestore.Write) (done bool, err error) {
	if old == "" {
		return false, nil // no row has it
	}
	return s.write(ctx, old, w)
}

func (s *store) Insert(ctx context.Context, w leasestore.Write) (number int64, done bool, err error) {
	if w.Fresh {
		return s.insertFresh(ctx, w)
	}
	done, err = s.write(ctx, "", w)
	return w.Number, done, err
}

// write writes a row whose token is old. An empty token is that of no row.
func (s *store) write(ctx context.Context, old string, w leasestore.Write) (done bool, err error) {
	path := s.number(w.Number)
	// A read without a fence may be old: not enough to report that nothing was written.
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
		session := s.conn.SessionID()
		ops, err := s.ops(ctx, w, n, before)
		if err != nil {
			return false, err
		}
		if n == nil {
			counted, err := s.get(ctx, s.given(w.Within.From))
			if err != nil {
				return false, err
			}
			count, err := s.raise(w.Within.From, w.Number+1, counted)
			if err != nil {
				return false, err
			}
			ops = append(ops, count)
		}
		err = s.multi(ctx, path, ops...)
		if err == nil && w.Change != leasestore.Release {
			s.sessions.Store(w.Number, session)
		}
		if err == nil || !conflict(err) || n == nil && errors.Is(err, zk.ErrNoNode) { // a parent is gone
			return err == nil, err
		}
	}
}

// ops returns what writes a row and its ephemeral child. n is the row's node, nil if there
// is none, and before what it says.
func (s *store) ops(ctx context.Context, w leasestore.Write, n *node, before leaserow.Row) (ops []any, err error) {
	path, alive, data := s.number(w.Number), s.alive(w.Number), before.After(w).JSON()
	if n == nil {
		ops = append(ops, &zk.CreateRequest{Path: path, Data: data, Acl: s.acl})
	} else {
		ops = append(ops, &zk.SetDataRequest{Path: path, Data: data, Version: n.stat.Version})
	}
	if n != nil && n.stat.NumChildren > 0 {
		if last, ok := s.sessions.Load(w.Number); ok && w.Change == leasestore.Extend && last == s.conn.SessionID() {
			return ops, nil
		}
		child, err := s.get(ctx, alive)
		if err != nil {
			return nil, err
		}
		if child != nil && w.Change == leasestore.Extend && child.stat.EphemeralOwner == s.conn.SessionID() {
			return ops, nil
		}
		if child != nil {
			ops = append(ops, &zk.DeleteRequest{Path: alive, Version: -1})
		}
	}
	if w.Change != leasestore.Release {
		ops = append(ops, &zk.CreateRequest{Path: alive, Acl: s.acl, Flags: zk.FlagEphemeral})
	}
	return ops, nil
}

// raise raises the count of from, whose node is counted, if nobody else changes it.
func (s *store) raise(from, next int64, counted *node) (op any, err error) {
	path := s.given(from)
	if counted == nil {
		return &zk.CreateRequest{Path: path, Data: format(next), Acl: s.acl}, nil
	}
	before, err := leaserow.Number(string(counted.data))
	if err != nil {
		return nil, foreign(path, err)
	}
	return &zk.SetDataRequest{Path: path, Data: format(max(before, next)), Version: counted.stat.Version}, nil
}

func (s *store) SwapLayout(ctx context.Context, old string, terms leasestore.Terms) (string, error) {
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
		var op any = &zk.CreateRequest{Path: path, Data: []byte(terms.Layout), Acl: s.acl}
		if n != nil {
			remembered = string(n.data)
			op = &zk.SetDataRequest{Path: path, Data: []byte(terms.Layout), Version: n.stat.Version}
		}
		if remembered != old || remembered == terms.Layout {
			return remembered, nil
		}
		err = s.multi(ctx, path, op)
		if errors.Is(err, zk.ErrNoNode) { // all nodes were deleted since Prepare, which a running holder does not call
			if err := s.Prepare(ctx, nil); err != nil {
				return "", err
			}
			continue
		}
		if err == nil || !conflict(err) {
			return terms.Layout, err
		}
	}
}

func format(n int64) []byte { return strconv.AppendInt(nil, n, 10) }
