package gate

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// pipe is a connection from an address. It remembers that it was closed.
type pipe struct {
	net.Conn
	from   string
	closed bool
}

type remote string

func (a remote) Network() string { return "tcp" }
func (a remote) String() string  { return string(a) }

func (p *pipe) RemoteAddr() net.Addr { return remote(p.from) }
func (p *pipe) Close() error         { p.closed = true; return nil }

// queue is a listener of connections that wait.
type queue []*pipe

func (q *queue) Accept() (net.Conn, error) {
	if len(*q) == 0 {
		return nil, io.EOF
	}
	first := (*q)[0]
	*q = (*q)[1:]
	return first, nil
}
func (*queue) Close() error   { return nil }
func (*queue) Addr() net.Addr { return nil }

// world has a gate and the connections that came to it.
type world struct {
	t     *testing.T
	gate  *Gate
	queue queue
	came  []*pipe
	in    map[*pipe]net.Conn
	told  int
}

func newWorld(t *testing.T, limits Limits) *world {
	w := &world{t: t, in: map[*pipe]net.Conn{}}
	w.gate = New(limits, func(Counts) { w.told++ })
	return w
}

// come has a connection come from an address: a stranger, busy, or idle after it was busy.
func (w *world) come(from string, state http.ConnState) *pipe {
	w.t.Helper()
	p := &pipe{from: from}
	w.came, w.queue = append(w.came, p), append(w.queue, p)
	c, err := w.gate.Before(&w.queue).Accept()
	if err != nil {
		return p // refused
	}
	w.in[p] = c
	if State(c, http.StateIdle); state != http.StateNew { // a stranger stays one
		Of(c).Busy()
		State(c, state)
	}
	return p
}

// open checks which connections are open, by their order.
func (w *world) open(want ...int) {
	w.t.Helper()
	var open []int
	for i, p := range w.came {
		if !p.closed {
			open = append(open, i)
		}
	}
	if !slices.Equal(open, want) {
		w.t.Errorf("open are %v, want %v", open, want)
	}
	if n := w.gate.Counts().Open; n != len(want) {
		w.t.Errorf("the gate counts %d, want %d", n, len(want))
	}
}

// A full gate ends the oldest stranger, if that had time for a request, then what is idle longest,
// then the oldest stranger. If all are busy, it has some extra places.
func TestAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Limits{All: 4, One: 1000})
		a := w.come("10.0.0.1:1", http.StateActive)
		w.come("10.0.0.1:2", http.StateNew)
		w.come("10.0.0.2:1", http.StateIdle)
		w.come("10.0.0.2:2", http.StateNew)
		w.open(0, 1, 2, 3)
		w.come("10.0.0.3:1", http.StateActive)
		w.open(0, 1, 3, 4) // the strangers have just come
		time.Sleep(Grace)
		Of(w.in[a]).Idle()
		w.come("10.0.0.3:2", http.StateActive)
		w.open(0, 3, 4, 5)
		w.come("10.0.0.3:3", http.StateNew)
		w.open(0, 4, 5, 6)
		Of(w.in[a]).Busy()
		w.come("10.0.0.3:4", http.StateActive)
		w.open(0, 4, 5, 7)
		if got := w.gate.Counts(); got != (Counts{Open: 4, Ended: 4}) || w.told != 4 {
			t.Errorf("%+v, told %d times", got, w.told)
		}
		first := w.come("10.0.0.4:1", http.StateActive)
		extra := func(c net.Conn) bool {
			_, extra := From(Context(t.Context(), c)).Clients()
			return extra
		}
		if c := w.in[first]; !extra(c) || !extra(tls.Server(c, nil)) || extra(w.in[a]) {
			t.Error("the fifth connection is no extra one, or the first is")
		}
		if Of(w.in[first]).Idle(); w.gate.Counts().Idle != 0 {
			t.Error("an extra connection is one of the idle ones")
		}
		for range Extras - 1 {
			w.come("10.0.0.4:2", http.StateActive)
		}
		if first.closed || w.gate.Counts().Extra != Extras {
			t.Errorf("%+v, want all extra places taken", w.gate.Counts())
		}
		w.come("10.0.0.4:3", http.StateActive)
		if !first.closed || w.gate.Counts().Extra != Extras {
			t.Errorf("%+v; want that the oldest extra one is ended", w.gate.Counts())
		}
		From(Context(t.Context(), w.in[a])).Busy()
		State(w.in[a], http.StateIdle)
		if w.come("10.0.0.5:1", http.StateActive); !a.closed {
			t.Error("the connection that is idle again makes no room")
		}
		_ = w.in[w.came[4]].Close()
		if c := w.in[w.come("10.0.0.5:2", http.StateActive)]; extra(c) {
			t.Error("a connection is an extra one, though one that is not has left")
		}
		for _, c := range w.in {
			_, _ = c.Close(), c.Close()
			Of(c).Idle()
			State(c, http.StateClosed)
		}
		if got := w.gate.Counts(); got.Open+got.Idle+got.Extra != 0 || len(w.gate.addresses) != 0 {
			t.Errorf("after all are closed: %+v, %d addresses", got, len(w.gate.addresses))
		}
	})
}

// An address that has its share ends its own idle connection, or is refused.
func TestOne(t *testing.T) {
	w := newWorld(t, Limits{All: 100, One: 2})
	w.come("[2001:db8::1]:1", http.StateIdle)
	w.come("10.0.0.9:1", http.StateIdle)
	w.come("[2001:db8::2]:1", http.StateActive)
	w.open(0, 1, 2)
	w.come("[2001:db8::3]:1", http.StateActive)
	w.open(1, 2, 3)
	w.come("[2001:db8::4]:1", http.StateActive)
	w.open(1, 2, 3)
	if got := w.gate.Counts(); got != (Counts{Open: 3, Idle: 1, Ended: 1, Refused: 1}) || w.told != 2 {
		t.Errorf("%+v, told %d times", got, w.told)
	}
	w.come("[2001:db8:0:1::1]:1", http.StateActive)
	w.open(1, 2, 3, 5)

	w = newWorld(t, Limits{All: 100, One: 2})
	w.come("10.0.0.1:1", http.StateActive)
	_ = w.in[w.come("10.0.0.1:2", http.StateActive)].Close()
	w.come("10.0.0.1:3", http.StateActive)
	w.come("10.0.0.1:4", http.StateActive)
	w.open(0, 2) // the one that left has made room for one

	w = newWorld(t, Limits{All: 100, One: 1})
	for i := range 5 { // in both forms, it is one address
		w.come([]string{"10.0.0.1:1", "[::ffff:10.0.0.1]:1"}[i%2], http.StateNew)
		w.open(i)
	}
}
