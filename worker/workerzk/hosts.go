package workerzk

import (
	"sync"

	"github.com/go-zookeeper/zk"
)

// Hosts is a zk.HostProvider that tries the servers in turn, and looks up their names each time. The client's own
// provider looks the names up once, in zk.Connect, so it never finds a server that has moved to another address, as a
// pod does that restarts. Hosts gives a zk.Dialer the names, which are what certificates are for. The zero value is
// ready for use by one connection.
type Hosts struct {
	mu         sync.Mutex
	names      []string
	next, last int // a round without success is over when last comes next again
}

var _ zk.HostProvider = (*Hosts)(nil)

// Init implements zk.HostProvider.
func (h *Hosts) Init(names []string) error {
	h.names, h.last = names, -1
	return nil
}

// Len implements zk.HostProvider.
func (h *Hosts) Len() int { return len(h.names) }

// Next implements zk.HostProvider.
func (h *Hosts) Next() (name string, again bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.next
	h.next = (at + 1) % len(h.names)
	again = at == h.last
	h.last = max(h.last, 0)
	return h.names[at], again
}

// Connected implements zk.HostProvider.
func (h *Hosts) Connected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = (h.next + len(h.names) - 1) % len(h.names)
}
