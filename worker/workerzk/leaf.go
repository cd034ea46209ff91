package workerzk

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/internal/leaserow"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// LeafConfig configures [NewLeaf]. Zero fields take their default values. Errors about it match
// [lease.ErrConfig].
type LeafConfig struct {
	// Address is this host's IP address. Together with the port, it determines the name of the
	// process's node. Empty means the address from which this host reaches ZooKeeper.
	Address string

	// ACL means the same as in [Config].
	ACL []zk.ACL

	// Lease configures the lease. A zero Expiry means 12 seconds, so that the holder reports every
	// 3 seconds, as Leaf does. A zero Window means the Expiry, so without ZooKeeper, ids run out
	// after 9 to 12 seconds. Lease.Assigner must be nil.
	Lease lease.Config
}

// Validate reports every invalid field in one error, which matches [lease.ErrConfig].
func (c LeafConfig) Validate() error {
	return errors.Join(c.check(), c.leaser(nil).Validate())
}

// check is Validate for all fields but those of Lease that package lease checks.
func (c LeafConfig) check() error {
	faults := invalid.Of("workerzk", lease.ErrConfig)
	if c.Address != "" && net.ParseIP(c.Address) == nil {
		faults.Add("Address", strconv.Quote(c.Address), "an IP address, or empty")
	}
	if c.Lease.Assigner != nil {
		faults.Add("Lease.Assigner", c.Lease.Assigner, "nil: NewLeaf gives the number")
	}
	return faults.Err()
}

// leaser is Lease with the defaults of Leaf.
func (c LeafConfig) leaser(from lease.Assigner) lease.Config {
	c.Lease.Expiry = cmp.Or(c.Lease.Expiry, 12*time.Second)
	c.Lease.Window = cmp.Or(c.Lease.Window, c.Lease.Expiry)
	c.Lease.Assigner = from
	return c.Lease
}

// NewLeaf returns a Leaser for the worker number that Leaf-snowflake gives to an IP address and
// port. NewLeaf itself does not contact ZooKeeper. No id repeats if no Java process ever had the
// same IP address and port, for example because the port is new. If one did, ids can repeat when
//
//   - the Java process starts from its local file, as it does while ZooKeeper is unavailable; to
//     prevent this, delete NAME/leafconf/PORT/workerID.properties in the Java process's temporary
//     directory;
//   - the Java process makes ids, but has not reported to ZooKeeper for 10 seconds when a
//     generator takes the number;
//   - the Java process and a generator start within 3 seconds of each other, or the Java process's
//     clock is ahead of the generator's by the window or more.
//
// In the last two cases, the generator notices the Java process's next report, and stops
// (lease.ErrLost). It resumes when the Java process has been silent for 10 seconds.
//
// name is leaf.name in Leaf's configuration. Generators must use Leaf's layout, which is
// bits.Snowflake(), or a layout that replaces it through bits.NewSuccession. Close conn after you
// close the generator.
//
// While another process has the same IP address and port, the Leaser waits or fails with
// lease.ErrHeld, as described in lease.Config.Assigner. To avoid that, choose an IP address and
// port that no other process has. A killed Go process counts as alive until its session times
// out, and a killed Java process until 10 seconds after its last report, by ZooKeeper's clock. If
// the number is greater than the layout allows, the Leaser fails with lease.ErrExhausted.
func NewLeaf(conn *zk.Conn, name string, port int, config LeafConfig) *lease.Leaser {
	l := newLeaf(conn, name, port, config)
	return lease.New(l, config.leaser(l))
}

// leaf is a Store whose rows have a node of Leaf beside them:
//
//	/snowflake/NAME/forever/10.0.0.1:8080-0000000007     {"ip":"10.0.0.1","port":"8080","timestamp":1763755200000}
//	/snowflake/NAME/uidring/number/0000000000000000007   the row, as a Store has it, which Java does not read
//
// It gives the number that ZooKeeper put behind the address in the node's name. A transaction that
// writes the row writes Leaf's node too, on condition that both are unchanged. The timestamp
// becomes the end of the reserved time, and Leaf in Java does not start before its clock shows
// that time. If Leaf's node was written after the row, Leaf in Java wrote it: then a generator
// with the number has lost it.
type leaf struct {
	*Store
	name   string
	port   int
	ip     string   // empty until it is known by the connection
	faults error    // of the config
	paths  sync.Map // of Leaf's nodes, by number; written by Assign
}

func newLeaf(conn *zk.Conn, name string, port int, config LeafConfig) *leaf {
	return &leaf{Store: NewStore(conn, Config{"/snowflake/" + name + "/uidring", config.ACL}), name: name, port: port, ip: config.Address, faults: config.check()}
}

func (l *leaf) Check() error {
	faults := l.Store.faults()
	if want := nameFault(l.name); want != "" {
		faults.Add("name", strconv.Quote(l.name), want)
	}
	invalid.Range(faults, "port", l.port, 1, 65535)
	faults.Join(l.faults)
	return faults.Err()
}

func (l *leaf) forever() string { return "/snowflake/" + l.name + "/forever" }

// Assign implements lease.Assigner: it finds the node of this process's address, or makes
// one. An answer that was lost can leave two nodes: the lower number counts.
func (l *leaf) Assign(ctx context.Context, limit int64) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	address, err := l.address(ctx)
	if err != nil {
		return 0, err
	}
	for _, path := range []string{l.forever(), l.path} {
		if err := l.prepare(ctx, path); err != nil {
			return 0, err
		}
	}
	path, number, err := l.find(ctx, address)
	if err != nil {
		return 0, err
	}
	if number > limit {
		return 0, fmt.Errorf("workerzk: Leaf: node %s has number %d, above %d, the greatest that the layout allows: use a layout with more bits for "+
			"the worker number; or stop all processes named %q, including those in Java, wait until the times reserved by nodes below %s and %s have passed, "+
			"and start them all with another name, whose numbers begin at 0: %w", path, number, limit, l.name, l.forever(), l.numbers(), lease.ErrExhausted)
	}
	l.paths.Store(number, path)
	return number, nil
}

// address is ip:port. The first address of the machine, which Leaf takes, may be one
// that every host has, such as a bridge's.
func (l *leaf) address(ctx context.Context) (string, error) {
	ip := l.ip
	if ip == "" {
		if _, err := l.get(ctx, "/"); err != nil { // the server is known after it
			return "", err
		}
		conn, err := new(net.Dialer).DialContext(ctx, "udp", l.conn.Server()) // which sends nothing
		if err != nil {
			return "", fmt.Errorf("workerzk: Leaf: cannot determine the address of this host; set LeafConfig.Address: %w", err)
		}
		defer conn.Close()
		ip = conn.LocalAddr().(*net.UDPAddr).IP.String()
	}
	return ip + ":" + strconv.Itoa(l.port), nil
}

// find returns Leaf's node of an address with the least number. If there is none, find
// makes one with the next number. The process in Java that finds no node at all takes number 0,
// whatever number its own node has. So number 0 goes to a node that no process has.
func (l *leaf) find(ctx context.Context, address string) (path string, number int64, err error) {
	if err := l.fence(ctx, l.forever()); err != nil {
		return "", 0, err
	}
	names, err := l.names(ctx, l.forever())
	if err != nil {
		return "", 0, err
	}
	for _, name := range names {
		if n, ok := numberOf(name, address); ok && (path == "" || n < number) {
			path, number = l.forever()+"/"+name, n
		}
	}
	if path != "" {
		return path, number, nil
	}
	add := func(address string) (string, error) {
		return l.create(ctx, l.forever()+"/"+address+"-", stamped(address, 0), zk.FlagSequence)
	}
	if len(names) == 0 {
		_, err = add("uidring:0")
	}
	if err == nil {
		path, err = add(address)
	}
	if err != nil {
		return "", 0, err
	}
	number, ok := numberOf(path[len(l.forever())+1:], address)
	if !ok {
		err = fmt.Errorf("workerzk: Leaf: node %s has no number: want one from 0 to %d after the address", path, 1<<31-1)
	}
	return path, number, err
}

func numberOf(name, address string) (int64, bool) {
	text, ok := strings.CutPrefix(name, address+"-")
	n, err := strconv.ParseUint(text, 10, 31)
	return int64(n), ok && err == nil
}

// endpoint is the data of a node of Leaf, which refuses other fields.
type endpoint struct {
	IP    string `json:"ip"`
	Port  string `json:"port"`
	Stamp int64  `json:"timestamp"` // in milliseconds since 1970; 0 if nobody has stamped
}

const latest int64 = 253402300799999 // the greatest timestamp, at the end of the year 9999

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

func stamped(address string, stamp int64) []byte {
	at := strings.LastIndexByte(address, ':')
	data, _ := json.Marshal(endpoint{address[:at], address[at+1:], stamp}) // strings and numbers cannot fail
	return data
}

type pair struct {
	path  string // of Leaf's node
	leaf  *node  // nil is none, and then nothing else is known
	row   *node  // nil is none
	known leaserow.Row
}

// foreign reports whether someone else wrote Leaf's node after the last write of the row.
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
	if p.leaf, err = l.get(ctx, p.path); err != nil || p.leaf == nil {
		return p, err
	}
	p.row, p.known, err = l.row(ctx, number)
	return p, err
}

// javaLives is how long a process in Java, which reports every 3 seconds, counts as alive.
const javaLives = 10 * time.Second

func (l *leaf) Read(ctx context.Context, number int64, _ time.Duration) (*leasestore.Row, int64, error) {
	if err := l.fence(ctx, l.path); err != nil {
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

// foreign returns the row of the process that wrote Leaf's node last: held while it
// reports, and reserved up to what its clock may show by now.
func (l *leaf) foreign(ctx context.Context, number int64, p pair) (*leasestore.Row, error) {
	e, err := parseEndpoint(p.path, p.leaf.data)
	if err != nil {
		return nil, err
	}
	now, err := do(ctx, l.Store, "set", l.path, func() (*zk.Stat, error) { return l.conn.Set(l.path, nil, -1) })
	if err != nil {
		return nil, err
	}
	silent := now.Mtime - p.leaf.stat.Mtime
	row := &leasestore.Row{Number: number, Token: p.token(), State: leasestore.StateFree,
		Until: max(p.known.Until, max(e.Stamp, p.leaf.stat.Mtime)+silent+1)}
	if e.Stamp == 0 {
		return row, nil
	}
	row.Node = leasestore.Node{Host: "a process of Leaf at " + e.IP, Port: e.Port, Type: int(lease.NodeActual)}
	if silent < javaLives.Milliseconds() {
		row.State = leasestore.StateHeld
	}
	return row, nil
}

func (l *leaf) Swap(ctx context.Context, old string, w leasestore.Write) (done bool, err error) {
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
	err = l.multi(ctx, l.number(w.Number), ops...)
	if conflict(err) {
		return false, nil
	}
	return err == nil, err
}

// Insert makes no row: every number has a node of Leaf, so that Read returns a row.
func (l *leaf) Insert(_ context.Context, w leasestore.Write) (int64, bool, error) {
	return 0, false, fmt.Errorf("workerzk: Leaf: no node below %s has number %d: the node was deleted, or ZooKeeper was restored from a backup; restart this process",
		l.forever(), w.Number)
}

// javaLayout is the layout of Leaf in Java, which bits.Snowflake is too.
const javaLayout = "41/10/12,epoch=2010-11-04T01:42:54.657Z,unit=1ms"

// SwapLayout begins with the layout of the processes in Java, which make ids too.
func (l *leaf) SwapLayout(ctx context.Context, old string, terms leasestore.Terms) (string, error) {
	if _, err := l.Store.SwapLayout(ctx, "", leasestore.Terms{Layout: javaLayout}); err != nil {
		return "", err
	}
	return l.Store.SwapLayout(ctx, old, terms)
}
