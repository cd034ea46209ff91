//go:build linux

package workerzk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/internal/holding"
	"github.com/uidring/uidring/worker/workerzk"
)

// leaf is a service of Leaf: its name, and a connection to look at its nodes.
type leaf struct {
	*testing.T
	name string
	conn *zk.Conn
	file string
}

var leaves atomic.Int64

// newLeaf returns a service that never ran. Its name has dashes, which Leaf takes for
// the one before the number.
func newLeaf(t *testing.T) *leaf {
	return &leaf{t, fmt.Sprintf("or-ders-%d", leaves.Add(1)), ready(t, connect(t, shared(t), 20*time.Second, nil)),
		filepath.Join(t.TempDir(), "leafconf", "workerID.properties")}
}

func (l *leaf) config(ip string) workerzk.LeafConfig {
	return workerzk.LeafConfig{Address: ip, File: l.file, Wait: time.Minute, Logger: slog.New(slog.DiscardHandler)}
}

// start starts a process on port 8080 of ip, on a connection of its own unless one is
// given.
func (l *leaf) start(ctx context.Context, conn *zk.Conn, config workerzk.LeafConfig, limit int64, clock func() time.Time) (*holding.Holder, error) {
	if conn == nil {
		conn = connect(l.T, shared(l.T), 20*time.Second, nil)
	}
	return holding.Try(ctx, l, workerzk.Leaf(conn, l.name, 8080, config).Faster(20*time.Millisecond, time.Second, time.Second), limit, clock)
}

// on starts a process that must start.
func (l *leaf) on(conn *zk.Conn, config workerzk.LeafConfig, clock func() time.Time) *holding.Holder {
	l.Helper()
	h, err := l.start(background(l.T), conn, config, 1023, clock)
	if err != nil {
		l.Fatal(err)
	}
	return h
}

func (l *leaf) starts(ip string, clock func() time.Time) *holding.Holder {
	l.Helper()
	return l.on(nil, l.config(ip), clock)
}

// fails starts a process that must not start.
func (l *leaf) fails(ip string, clock func() time.Time, target error, parts ...string) {
	l.Helper()
	h, err := l.start(background(l.T), nil, l.config(ip), 1023, clock)
	if !errors.Is(err, target) {
		l.Fatalf("%+v, %v; want an error that matches %v", h, err, target)
	}
	for _, part := range append(parts, "workerzk: ") {
		if strings.Count(err.Error(), part) != 1 {
			l.Errorf("%v; want it to say %q once", err, part)
		}
	}
}

func (l *leaf) forever() string { return "/snowflake/" + l.name + "/forever" }

// java makes the node of a process that Leaf in Java has started, as its code does.
func (l *leaf) java(address, data string) string {
	l.Helper()
	for _, path := range []string{"/snowflake", "/snowflake/" + l.name, l.forever()} {
		if _, err := l.conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			l.Fatal(err)
		}
	}
	path, err := l.conn.Create(l.forever()+"/"+address+"-", []byte(data), zk.FlagSequence, zk.WorldACL(zk.PermAll))
	if err != nil {
		l.Fatal(err)
	}
	return path
}

func data(ip string, at time.Time) string {
	return fmt.Sprintf(`{"ip":%q,"port":"8080","timestamp":%d}`, ip, at.UnixMilli())
}

// node returns what the only node of an address is called and says.
func (l *leaf) node(address string) (name string, stamp int64) {
	l.Helper()
	names, _, err := l.conn.Children(l.forever())
	if err != nil {
		l.Fatal(err)
	}
	for _, n := range names {
		if !strings.HasPrefix(n, address+"-") {
			continue
		}
		if name != "" {
			l.Fatalf("%s and %s have the same address", name, n)
		}
		name = n
	}
	text, _, err := l.conn.Get(l.forever() + "/" + name)
	if err != nil {
		l.Fatal(err)
	}
	var e struct {
		IP, Port  string
		Timestamp int64
	}
	if err := json.Unmarshal(text, &e); err != nil || e.IP+":"+e.Port != address {
		l.Fatalf("node %s is %s, %v", name, text, err)
	}
	return name, e.Timestamp
}

// shifted is a clock that is off.
func shifted(by time.Duration) func() time.Time {
	return func() time.Time { return time.Now().Add(by) }
}
