package stores

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/workerzk"
)

func zooKeeper(text string) (*database.Store, error) {
	a := read(text, "2181")
	timeout, session := a.duration("timeout"), a.duration("session")
	secure := a.tls(a.yes("tls"))
	var user, password string
	a.credentials(&user, &password)
	path := cmp.Or(strings.TrimSuffix(a.path, "/"), workerzk.DefaultPath)
	if err := errors.Join(a.end("timeout, session, tls, ca, cert or key"), workerzk.NewStore(new(zk.Conn), workerzk.Config{Path: path}).Check()); err != nil {
		return nil, err
	}
	rights := func(user string) string {
		lines, parent := fmt.Sprintf("addauth digest %s:PASSWORD\n", user), ""
		for name := range strings.SplitSeq(path[1:], "/") {
			parent += "/" + name
			lines += fmt.Sprintf("create %s \"\" auth::%s\n", parent, workerzk.ACL())
		}
		return lines
	}
	return &database.Store{Name: a.name(), Timeout: timeout, Rights: rights, Open: func(ctx context.Context) (leasestore.Store, func() error, error) {
		if err := reach(ctx, a.hosts); err != nil {
			return nil, nil, err
		}
		c := &connection{secure: secure, timeout: timeout, ready: make(chan struct{}, 1)}
		var err error
		c.Conn, c.events, err = zk.Connect(a.hosts, session, zk.WithLogger(log.New(io.Discard, "", 0)), zk.WithEventCallback(c.saw), zk.WithDialer(c.dial), zk.WithHostProvider(new(workerzk.Hosts)))
		if err != nil {
			return nil, nil, err
		}
		var acl []zk.ACL
		if user != "" {
			acl = zk.AuthACL(zk.PermAll)
		}
		if err := c.start(ctx, user, password); err != nil {
			return nil, nil, errors.Join(err, c.end())
		}
		return workerzk.NewStore(c.Conn, workerzk.Config{Path: path, ACL: acl}), c.end, nil
	}}, nil
}

// connection is a connection to ZooKeeper. Its end waits for the client's goroutines.
type connection struct {
	*zk.Conn
	events  <-chan zk.Event
	ready   chan struct{} // has an element once there is a session
	secure  *tls.Config   // nil is none
	timeout time.Duration // of the first answer
	mu      sync.Mutex
	last    net.Conn // the last one dialled; nil is none
}

// impatient limits the client's first wait for a server that has accepted a connection, which else is seven times the
// session's time-out.
type impatient struct {
	net.Conn
	first time.Time // no later than the end of the first wait; zero after it has begun
}

func (c *impatient) SetReadDeadline(end time.Time) error {
	if c.first.IsZero() || end.IsZero() {
		return c.Conn.SetReadDeadline(end)
	}
	end, c.first = c.first, time.Time{}
	return c.Conn.SetReadDeadline(end)
}

// dial is a zk.Dialer.
func (c *connection) dial(network, host string, timeout time.Duration) (conn net.Conn, err error) {
	dialer := &net.Dialer{Timeout: timeout}
	if c.secure != nil {
		conn, err = tls.DialWithDialer(dialer, network, host, c.secure)
	} else {
		conn, err = dialer.Dial(network, host)
	}
	if err != nil {
		return nil, err // conn may hold a nil pointer
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = conn
	return &impatient{conn, time.Now().Add(c.timeout)}, nil
}

// saw is a zk.EventCallback.
func (c *connection) saw(event zk.Event) {
	if event.State == zk.StateHasSession {
		select {
		case c.ready <- struct{}{}:
		default:
		}
	}
}

// start waits for a session and authenticates, which the client does without a context.
func (c *connection) start(ctx context.Context, user, password string) error {
	done := make(chan error, 1)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-c.ready:
	}
	if user == "" {
		return nil
	}
	go func() { done <- c.AddAuth("digest", []byte(user+":"+password)) }()
	select {
	case <-ctx.Done():
		return ctx.Err() // end ends the request
	case err := <-done:
		return err
	}
}

// end closes the connection, and waits until the client's goroutines have ended. One of
// them may be reading from a server other than ZooKeeper.
func (c *connection) end() error {
	c.Close()
	for {
		c.mu.Lock()
		if c.last != nil {
			_ = c.last.Close()
		}
		c.mu.Unlock()
		select {
		case _, more := <-c.events:
			if !more {
				return nil
			}
		case <-time.After(100 * time.Millisecond): // the client may have dialled meanwhile
		}
	}
}
