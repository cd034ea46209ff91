package workerzk

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/worker/lease"
)

// What a LeafConfig has where a field is zero.
const (
	DefaultThreshold = 5 * time.Second
	DefaultWait      = 10 * time.Second
)

// LeafConfig configures Leaf. The zero LeafConfig is the default, and so is every zero
// field. All faults are reported at once, by Lease.
type LeafConfig struct {
	// Address is this host's IP address, which tells its processes' nodes apart from
	// other hosts'. Empty is the address from which this host reaches ZooKeeper.
	Address string

	// File has the number and the last timestamp, for starts while ZooKeeper is away.
	// Each process has a file of its own. Empty is Leaf's, which is
	// NAME/leafconf/PORT/workerID.properties in the folder for temporary files;
	// choose a file that outlives a restart, and that only this service can write.
	File string

	// Threshold is how far the clock may be from the mean of the live peers' at the
	// start. Zero is 5 seconds; it is 100 milliseconds or more.
	Threshold time.Duration

	// Wait is how long a start waits for ZooKeeper before it uses File, at most half of
	// what is left of its context. Zero is 10 seconds.
	Wait time.Duration

	// ACL is the access list of nodes that are created. Empty is open to the world, as
	// Leaf's are.
	ACL []zk.ACL

	// Logger receives warnings; nil is slog.Default.
	Logger *slog.Logger
}

// LeafLeaser gives the worker numbers of Leaf-snowflake. Make one with Leaf. It is
// safe for concurrent use.
type LeafLeaser struct {
	client client
	name   string
	port   int
	config LeafConfig

	every time.Duration // between reports
	lives time.Duration // of a process that does not report
	held  time.Duration // how long a start waits for the session of its predecessor to end
}

// Leaf returns a LeafLeaser for the process that serves on port, under leaf.name in
// Leaf's configuration. Generators use Leaf's layout, 41/10/12 from epoch 1288834974657
// on, if services in Java share the ids. It does not call ZooKeeper. The caller closes
// conn after the generator.
func Leaf(conn *zk.Conn, name string, port int, config LeafConfig) *LeafLeaser {
	config.Threshold = cmp.Or(config.Threshold, DefaultThreshold)
	config.Wait = cmp.Or(config.Wait, DefaultWait)
	if config.File == "" {
		config.File = filepath.Join(os.TempDir(), name, "leafconf", strconv.Itoa(port), "workerID.properties")
	}
	if len(config.ACL) == 0 {
		config.ACL = zk.WorldACL(zk.PermAll)
	}
	return &LeafLeaser{
		client: client{conn, config.ACL}, name: name, port: port, config: config,
		every: 3 * time.Second, lives: 10 * time.Second, held: 30 * time.Second,
	}
}

func (l *LeafLeaser) check(limit int64, clock func() time.Time, granted func(lease.Grant)) error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("workerzk: Leaf: "+format, args...))
	}
	if l.client.conn == nil {
		faults = append(faults, errNoConn)
	}
	if want := nameFault(l.name); want != "" {
		fault("name %q: want %s", l.name, want)
	}
	if l.port < 1 || l.port > 65535 {
		fault("port %d: want 1 to 65535", l.port)
	}
	if l.config.Address != "" && net.ParseIP(l.config.Address) == nil {
		fault("Address %q: want an IP address, or none", l.config.Address)
	}
	if l.config.Threshold < 100*time.Millisecond {
		fault("Threshold %v: want 100ms or more", l.config.Threshold)
	}
	if l.config.Wait < 100*time.Millisecond {
		fault("Wait %v: want 100ms or more", l.config.Wait)
	}
	if limit < 0 {
		fault("limit %d: want 0 or more", limit)
	}
	if clock == nil || granted == nil {
		fault("want a clock and a function to grant to, not nil")
	}
	return errors.Join(faults...)
}

// Lease takes the number of this process's address, and reports the clock every 3
// seconds until the lease is released. What is granted has no end. A grant is taken
// away, with an error that matches lease.ErrLost, when another process uses the
// address or the node is gone.
//
// ctx bounds the start only. Errors: lease.ErrHeld when a live process has the address;
// lease.ErrSkew when the clock is behind the own timestamp, or too far from the
// peers'; lease.ErrExhausted when the number is above limit; ZooKeeper's, when it is
// away and the file cannot be used either.
func (l *LeafLeaser) Lease(ctx context.Context, limit int64, clock func() time.Time, granted func(lease.Grant)) (lease.Lease, error) {
	if err := l.check(limit, clock, granted); err != nil {
		return nil, err
	}
	address, err := l.address(ctx)
	if err != nil {
		return nil, err
	}
	m := &member{LeafLeaser: l, address: address, token: rand.Text(), limit: limit, clock: clock, granted: granted}
	if err := m.start(ctx); err != nil {
		return nil, err
	}
	granted(m.grant())
	running, stop := context.WithCancel(context.Background())
	m.stop = stop
	m.done.Go(func() { m.run(running) })
	return m, nil
}

// address is ip:port. The first address of the machine, which Leaf takes, may be one
// that every host has, such as a bridge's.
func (l *LeafLeaser) address(ctx context.Context) (string, error) {
	ip := l.config.Address
	if ip == "" {
		for l.client.conn.Server() == "" && ctx.Err() == nil { // the connection is new
			time.Sleep(poll)
		}
		conn, err := new(net.Dialer).DialContext(ctx, "udp", l.client.conn.Server()) // which sends nothing
		if err != nil {
			return "", fmt.Errorf("workerzk: Leaf: no address of this host is known, want LeafConfig.Address: %w", err)
		}
		defer conn.Close()
		ip = conn.LocalAddr().(*net.UDPAddr).IP.String()
	}
	return ip + ":" + strconv.Itoa(l.port), nil
}

// root is /snowflake/NAME.
func (l *LeafLeaser) root() string      { return "/snowflake/" + l.name }
func (l *LeafLeaser) forever() string   { return l.root() + "/forever" }
func (l *LeafLeaser) temporary() string { return l.root() + "/temporary" }

func (l *LeafLeaser) log() *slog.Logger {
	if l.config.Logger != nil {
		return l.config.Logger
	}
	return slog.Default()
}
