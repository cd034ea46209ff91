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

// The defaults of fields of LeafConfig.
const (
	DefaultThreshold = 5 * time.Second
	DefaultWait      = 10 * time.Second
)

// LeafConfig configures Leaf. The zero LeafConfig is the default, and so is every zero
// field. Lease reports all faults at once.
type LeafConfig struct {
	// Address is this host's IP address. It distinguishes this host's nodes from those
	// of other hosts. Empty is the address from which this host reaches ZooKeeper.
	Address string

	// File holds the number and the last timestamp, for starts while ZooKeeper is away.
	// Each process has a file of its own. Empty is Leaf's own file,
	// NAME/leafconf/PORT/workerID.properties in the folder for temporary files. Choose a
	// file that outlives a restart, and that only this service can write.
	File string

	// Threshold is how far the clock may be from the mean of the live peers' clocks at
	// the start, 100 milliseconds or more. Zero is 5 seconds.
	Threshold time.Duration

	// Wait is how long a start waits for ZooKeeper before it uses File, 100 milliseconds
	// or more. Half of the time until ctx ends is a limit too. Zero is 10 seconds.
	Wait time.Duration

	// ACL is the access list of the nodes that Leaf creates. Empty is open to the world,
	// as with Leaf in Java.
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
	lives time.Duration // how long a process counts as live after a report
	held  time.Duration // how long a start waits for the session of its predecessor to end
}

// Leaf returns a LeafLeaser for the process that serves on port, without calling
// ZooKeeper. name is leaf.name of Leaf's configuration. If services in Java make ids of
// the same key space, generators use their layout, bits.Snowflake(). The caller closes
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
// seconds until Release. The grant has no end. When another process uses the address or
// the node is gone, Lease withdraws the grant with an error that matches lease.ErrLost.
//
// ctx bounds the start only. Errors match
//
//   - lease.ErrHeld when a live process has the address;
//   - lease.ErrSkew when the clock is behind the process's own timestamp, or too far
//     from the peers' clocks;
//   - lease.ErrExhausted when the number is above limit.
//
// If ZooKeeper is away and the file cannot be used either, Lease returns both errors.
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
