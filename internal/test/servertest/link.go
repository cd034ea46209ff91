package servertest

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
)

// A Link is the network between a test and a server. A test can cut it, and make it hang.
type Link struct {
	mu       sync.Mutex
	here     string        // the link's address
	healed   *sync.Cond    // of mu: hangs has become false
	server   func() string // the server's address
	hangs    [2]bool       // by Way
	listener net.Listener  // nil while the link is cut
	conns    map[net.Conn]bool
	accepted int
	carried  [2]Traffic // by Way
	running  sync.WaitGroup
}

// Way is a direction through a Link.
type Way int

// The directions.
const (
	FromServer Way = iota
	ToServer
)

// NewLink returns a Link to a server, until the test ends. The Link asks for the server's
// address at each connection.
func NewLink(t testing.TB, server func() string) *Link {
	t.Helper()
	return NewLinkAt(t, "127.0.0.1:0", server)
}

// NewLinkAt is NewLink at an address.
func NewLinkAt(t testing.TB, here string, server func() string) *Link {
	t.Helper()
	l := &Link{server: server, here: here, conns: map[net.Conn]bool{}}
	l.healed = sync.NewCond(&l.mu)
	need.Must(t, l.Mend())
	t.Cleanup(func() {
		l.Cut()
		l.running.Wait()
	})
	return l
}

// Accepted returns how many connections there have been.
func (l *Link) Accepted() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.accepted
}

// Traffic is what a Link has carried one way.
type Traffic struct{ Writes, Bytes int }

// Carried returns what the clients have sent, and what the server has.
func (l *Link) Carried() (clients, server Traffic) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.carried[ToServer], l.carried[FromServer]
}

// Address returns the address that clients connect to.
func (l *Link) Address() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.here
}

// Cut ends all connections, and refuses new ones.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listener != nil {
		_ = l.listener.Close()
		l.listener = nil
	}
	l.drop()
}

// Drop ends a hang and all connections, and accepts new ones. It returns how many there were.
func (l *Link) Drop() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.drop()
}

// drop is Drop. The caller holds mu.
func (l *Link) drop() int {
	for conn := range l.conns {
		_ = conn.Close()
	}
	l.release()
	return len(l.conns) / 2
}

// Hang stops carrying bytes. New connections are accepted, and get no answer.
func (l *Link) Hang() { l.Hold(FromServer, ToServer) }

// Hold is Hang for some directions.
func (l *Link) Hold(ways ...Way) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, way := range ways {
		l.hangs[way] = true
	}
}

// release ends a hang. The caller holds mu.
func (l *Link) release() {
	l.hangs = [2]bool{}
	l.healed.Broadcast()
}

// Move makes connections from now on lead to another server.
func (l *Link) Move(server string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.server = func() string { return server }
}

// Mend accepts connections again, at the same address as before, and carries the bytes
// that were sent during a hang.
func (l *Link) Mend() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.release()
	if l.listener != nil {
		return nil
	}
	listener, err := net.Listen("tcp", l.here)
	if err != nil {
		return err
	}
	l.listener, l.here = listener, listener.Addr().String()
	l.running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the listener is closed
			}
			l.running.Go(func() { l.join(conn) })
		}
	})
	return nil
}

// join carries bytes between one client and the server.
func (l *Link) join(client net.Conn) {
	l.mu.Lock()
	l.accepted++
	address := l.server
	l.mu.Unlock()
	server, err := net.Dial("tcp", address())
	if err != nil {
		_ = client.Close()
		return
	}
	ends := []net.Conn{client, server}
	l.mu.Lock()
	for _, end := range ends {
		l.conns[end] = true
		if l.listener == nil {
			_ = end.Close()
		}
	}
	l.mu.Unlock()
	var both sync.WaitGroup
	for i, end := range ends {
		both.Go(func() {
			_, _ = io.Copy(carrier{end, l, Way(i)}, ends[1-i])
			_ = end.Close() // which ends the other direction too
			_ = ends[1-i].Close()
		})
	}
	both.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, end := range ends {
		delete(l.conns, end)
	}
}

// carrier is a connection to which bytes are written while the link does not hang.
type carrier struct {
	net.Conn
	link *Link
	way  Way
}

func (c carrier) Write(b []byte) (int, error) {
	c.link.mu.Lock()
	for c.link.hangs[c.way] {
		c.link.healed.Wait()
	}
	c.link.carried[c.way].Writes++
	c.link.carried[c.way].Bytes += len(b)
	c.link.mu.Unlock()
	return c.Conn.Write(b)
}
