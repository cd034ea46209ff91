package deadline

import (
	"errors"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/nettest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestConn shows that a connection over TCP does what net.Conn promises.
func TestConn(t *testing.T) {
	nettest.TestConn(t, func() (ours, peer net.Conn, stop func(), err error) {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, nil, nil, err
		}
		l, end := New(tcp, time.Millisecond)
		if peer, err = net.Dial("tcp", tcp.Addr().String()); err != nil {
			return nil, nil, nil, err
		}
		ours, err = l.Accept()
		return ours, peer, func() {
			_ = errors.Join(ours.Close(), peer.Close(), l.Close()) // tests close them too
			end()
		}, err
	})
}

// accepts is a listener whose next connection is c.
type accepts struct {
	net.Listener
	c net.Conn
}

func (a accepts) Accept() (net.Conn, error) { return a.c, nil }

// accepted returns a connection over inner, and its listener.
func accepted(t *testing.T, inner net.Conn, every time.Duration) (net.Conn, *listener) {
	t.Helper()
	l, stop := New(accepts{c: inner}, every)
	t.Cleanup(stop)
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return c, l.(*listener)
}

// every is between two looks.
const every = time.Second

// piped calls f in a time of its own, with a connection that is looked at every second.
func piped(t *testing.T, f func(c net.Conn, l *listener)) {
	synctest.Test(t, func(t *testing.T) {
		ours, peer := net.Pipe()
		defer peer.Close()
		c, l := accepted(t, ours, every)
		defer c.Close()
		f(c, l)
	})
}

// TestLate shows that a deadline is reached between two looks after it, in each
// direction, and that the deadline counts that was set last.
func TestLate(t *testing.T) {
	const first, last = 3300 * time.Millisecond, 9700 * time.Millisecond
	for name, is := range map[string]struct {
		set func(net.Conn, time.Time) error
		try func(net.Conn) error
	}{
		"read":       {net.Conn.SetReadDeadline, read},
		"write":      {net.Conn.SetWriteDeadline, write},
		"both read":  {net.Conn.SetDeadline, read},
		"both write": {net.Conn.SetDeadline, write},
	} {
		t.Run(name, func(t *testing.T) {
			piped(t, func(c net.Conn, _ *listener) {
				began := time.Now()
				end := make(chan error)
				set := func(at time.Time) {
					if err := is.set(c, at); err != nil {
						t.Error(err)
					}
				}
				set(began.Add(first))
				go func() { end <- is.try(c) }()
				time.Sleep(first - time.Millisecond)
				set(began.Add(last))
				if err := <-end; !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("%v, want that the deadline is exceeded", err)
				}
				if took := time.Since(began); took < last || took > last+every {
					t.Errorf("a deadline of %v was reached after %v", last, took)
				}
				set(time.Now().Add(-time.Second))
				if err := is.try(c); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("%v after a deadline that is over", err)
				}
				set(time.Time{})
				go func() { end <- is.try(c) }()
				select {
				case err := <-end:
					t.Errorf("%v without a deadline", err)
				case <-time.After(time.Hour):
				}
				now := time.Now()
				set(time.Unix(1, 0)) // as net/http ends a read
				if err := <-end; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(now) != 0 {
					t.Errorf("%v after %v, want that a deadline that is over ends a call at once", err, time.Since(now))
				}
				set(time.Now().Add(first)) // ends what the last one has begun
				now = time.Now()
				if err := is.try(c); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(now) < first {
					t.Errorf("%v after %v, want the next deadline", err, time.Since(now))
				}
			})
		})
	}
}

func read(c net.Conn) error {
	_, err := c.Read(make([]byte, 1))
	return err
}

func write(c net.Conn) error {
	_, err := c.Write([]byte("x"))
	return err
}

// TestClose shows that nothing remembers a closed connection.
func TestClose(t *testing.T) {
	piped(t, func(c net.Conn, l *listener) {
		if err := c.Close(); err != nil || len(l.conns) > 0 {
			t.Errorf("%v, %d connections are left", err, len(l.conns))
		}
	})
}

// TestCheap shows that a connection is told nothing while no call lasts too long.
func TestCheap(t *testing.T) {
	end := make(chan struct{})
	close(end) // reads return at once
	inner := &told{end: end}
	c, l := accepted(t, inner, time.Hour)
	for _, at := range []time.Time{time.Now().Add(time.Hour), {}, time.Unix(1, 0), {}, time.Unix(1, 0)} {
		_ = read(c)
		_ = c.SetReadDeadline(at)
		l.look()
	}
	if inner.calls > 0 {
		t.Errorf("the connection was told %d deadlines", inner.calls)
	}
}

// told keeps the last deadline that it was told. Its reads last.
type told struct {
	net.Conn
	end chan struct{} // ends reads

	mu    sync.Mutex
	at    time.Time
	calls int
}

func (c *told) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = t
	c.calls++
	return nil
}

func (c *told) Read([]byte) (int, error)         { <-c.end; return 0, net.ErrClosed }
func (c *told) SetWriteDeadline(time.Time) error { return nil }
func (c *told) Close() error                     { return nil }

// TestSetBesideLook shows that a look never ends a connection whose deadline was moved
// meanwhile.
func TestSetBesideLook(t *testing.T) {
	end := make(chan struct{})
	inner := &told{end: end}
	c, l := accepted(t, inner, time.Hour)
	var others sync.WaitGroup
	others.Go(func() { _ = read(c) })
	for range 2 {
		others.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
					l.look()
				}
			}
		})
	}
	for range 200_000 {
		_ = c.SetReadDeadline(time.Now().Add(time.Microsecond))
		_ = c.SetReadDeadline(time.Now().Add(time.Hour))
		l.look() // waits for the looks that began before
		inner.mu.Lock()
		over := !inner.at.IsZero()
		inner.mu.Unlock()
		if over {
			t.Fatal("a connection with an hour to go has a deadline that is over")
		}
	}
	close(end)
	others.Wait()
}
