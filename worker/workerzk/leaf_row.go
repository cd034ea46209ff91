package workerzk

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/internal/leaserow"
	"github.com/uidring/uidring/worker/lease"
)

// endpoint is the data of a node of Leaf. Leaf refuses fields that it does not know.
type endpoint struct {
	IP    string `json:"ip"`
	Port  string `json:"port"`
	Stamp int64  `json:"timestamp"` // in milliseconds since 1970; 0 if nobody has stamped
}

// latest is the greatest timestamp, at the end of the year 9999.
const latest int64 = 253402300799999

func parseEndpoint(path string, data []byte) (e endpoint, err error) {
	err = json.Unmarshal(data, &e)
	if err == nil && (e.Stamp < 0 || e.Stamp > latest) {
		err = fmt.Errorf("the timestamp is %d", e.Stamp)
	}
	if err != nil {
		return e, fmt.Errorf("workerzk: Leaf: node %s is %q, want JSON with ip, port and a timestamp from 0 to %d: %w", path, data, latest, err)
	}
	return e, nil
}

// stamped is the data of the node of an address.
func stamped(address string, stamp int64) []byte {
	at := strings.LastIndexByte(address, ':')
	data, _ := json.Marshal(endpoint{address[:at], address[at+1:], stamp}) // strings and numbers cannot fail
	return data
}

// pair is a row and Leaf's node of the same number.
type pair struct {
	path  string // of Leaf's node
	leaf  *node  // nil is none, and then nothing else is known
	row   *node  // nil is none
	known leaserow.Row
}

// foreign reports whether someone else wrote Leaf's node after the last write of the row.
// A transaction that writes the row writes Leaf's node too.
func (p pair) foreign() bool { return p.row == nil || p.leaf.stat.Mzxid > p.row.stat.Mzxid }

// token is the row's, or one for the write to Leaf's node that replaced it.
func (p pair) token() string {
	if p.foreign() {
		return "leaf-" + strconv.FormatInt(p.leaf.stat.Mzxid, 10)
	}
	return p.known.Token
}

// load reads Leaf's node and then the row, so that a write of both that comes between
// looks like one of the row.
func (l *leaf) load(ctx context.Context, number int64) (p pair, err error) {
	path, assigned := l.paths.Load(number)
	if !assigned {
		return p, nil
	}
	p.path = path.(string)
	if p.leaf, err = l.client.get(ctx, p.path); err != nil || p.leaf == nil {
		return p, err
	}
	p.row, p.known, err = l.row(ctx, number)
	return p, err
}

// Java reports every 3 seconds. A process in Java counts as alive for javaLives after its
// last report.
const javaLives = 10 * time.Second

// Earlier versions of this package, which made the node temporary, stamped ahead of the
// clock without reserving it. borrowed is more than they can have stamped after a report.
const borrowed = 10 * time.Minute

// Read implements lease.Store. If someone else wrote Leaf's node, the row is that
// process's: held while it reports, and reserved up to what its clock may show by now.
func (l *leaf) Read(ctx context.Context, number int64, _ time.Duration) (*lease.Row, int64, error) {
	if err := l.client.fence(ctx, l.path); err != nil {
		return nil, 0, err
	}
	p, err := l.load(ctx, number)
	if err != nil || p.leaf == nil {
		return nil, 0, err
	}
	if !p.foreign() {
		return shown(number, p.known, p.row), 0, nil
	}
	row, err := l.foreign(ctx, number, p)
	return row, 0, err
}

// foreign returns the row of the process that wrote Leaf's node last. A generator that
// held the number before has lost it, so its ephemeral node no longer counts.
func (l *leaf) foreign(ctx context.Context, number int64, p pair) (*lease.Row, error) {
	e, err := parseEndpoint(p.path, p.leaf.data)
	if err != nil {
		return nil, err
	}
	now, err := do(ctx, l.client, "set", l.path, func() (*zk.Stat, error) { return l.client.conn.Set(l.path, nil, -1) })
	if err != nil {
		return nil, err
	}
	silent := now.Mtime - p.leaf.stat.Mtime
	row := &lease.Row{Number: number, Token: p.token(), State: lease.StateFree,
		Until: max(p.known.Until, max(e.Stamp, p.leaf.stat.Mtime)+silent+1)}
	if e.Stamp == 0 {
		return row, nil
	}
	row.Node = lease.Node{Host: "a process of Leaf at " + e.IP, Port: e.Port, Type: lease.NodeActual}
	if silent < javaLives.Milliseconds() {
		row.State = lease.StateHeld
	}
	earlier, err := l.client.get(ctx, "/snowflake/"+l.name+"/temporary")
	if earlier != nil {
		row.Until += borrowed.Milliseconds()
	}
	return row, err
}

// Swap implements lease.Store. One transaction writes the row and Leaf's node, whose
// timestamp is the end of the reserved time: Leaf in Java does not start before it.
func (l *leaf) Swap(ctx context.Context, old string, w lease.Write) (done bool, err error) {
	p, err := l.load(ctx, w.Number)
	if err != nil || p.leaf == nil || p.token() != old {
		return false, err
	}
	ops, err := l.ops(ctx, w, p.row, p.known)
	if err != nil {
		return false, err
	}
	address := p.path[len(l.forever())+1 : strings.LastIndexByte(p.path, '-')]
	ops = append(ops, &zk.SetDataRequest{Path: p.path, Data: stamped(address, w.Until), Version: p.leaf.stat.Version})
	err = l.client.multi(ctx, l.number(w.Number), ops...)
	if conflict(err) {
		return false, nil
	}
	return err == nil, err
}

// Insert implements lease.Store. It makes no row: every number has a node of Leaf, so
// that Read returns a row.
func (l *leaf) Insert(_ context.Context, w lease.Write) (bool, error) {
	return false, fmt.Errorf("workerzk: Leaf: no node below %s has number %d: the node was deleted, or ZooKeeper was restored from a copy: want a restart",
		l.forever(), w.Number)
}

// javaLayout is the layout of Leaf in Java, which bits.Snowflake is too.
const javaLayout = "41/10/12,epoch=2010-11-04T01:42:54.657Z,unit=1ms"

// SwapLayout implements lease.Store. Processes in Java make ids too, so the layout is
// theirs at first.
func (l *leaf) SwapLayout(ctx context.Context, old, layout string) (string, error) {
	if _, err := l.Store.SwapLayout(ctx, "", javaLayout); err != nil {
		return "", err
	}
	return l.Store.SwapLayout(ctx, old, layout)
}
