package uidclient

import (
	"context"
	"errors"
	"iter"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/uidring/uidring/internal/contention"
	"github.com/uidring/uidring/internal/deal"
	"github.com/uidring/uidring/ringbuffer"
	"github.com/uidring/uidring/uid"
)

// Client issues ids from a generator on uidring servers. Make one with [New] and share it: all
// methods are safe for concurrent use. The zero value is not usable.
//
// Order: within one server instance, a later call always returns larger ids.
type Client struct {
	_ contention.Pad

	// Of the first session; written with mu held, read by takers.
	ring   unsafe.Pointer // a *ringbuffer.Ring: with an atomic.Pointer, the compiler would not inline Next
	claims atomic.Pointer[claims]

	_        contention.Pad
	failures atomic.Int64 // requests that failed; written by the source

	name    string
	config  Config
	http    *http.Client
	running sync.WaitGroup // sessions that are closing

	mu       sync.Mutex // never held during I/O, nor by a taker that finds an id
	sessions []*session // sessions that have ids, or will have; never empty
	left     *session   // the last session that was closed: calls that waited there still count; or nil
	closed   bool
	past     uid.Stats     // what the sessions before left have done, and why the last fetch failed
	loads    uid.LoadStats // of the fetches that succeeded
}

// claims has the methods of a uid.Generator that follow from a session's claims of runs.
type claims = deal.Claims[uid.ID, uid.Run]

var _ uid.Generator = (*Client)(nil)

// New returns a Client for the servers at urls, such as https://ids.example.com, and fetches the
// first ids. name is the name of a generator in the servers' config, or of a counter that they
// serve. ctx bounds only this call. Stop the client with Close or Shutdown.
//
// New does not wait for servers that start later. If your service may start first, call New again
// after an error that matches [uid.ErrUnavailable].
//
// An error matches [uid.ErrConfig], [uid.ErrUnavailable] or [ErrAnswer] (returned for a Slots
// generator too), or is a [*StatusError] from a server that refuses the request, with status 404
// for an unknown name.
func New(ctx context.Context, urls []string, name string, config Config) (*Client, error) {
	requests, err := config.requests(urls, name)
	if err != nil {
		return nil, err
	}
	c := &Client{
		name:   name,
		config: config,
		http:   newHTTP(&config),
	}
	c.loads.Tag = name
	first := c.newSession()
	first.fetcher.Store(newFetcher(c, requests))
	c.sessions = []*session{first}
	c.draw(first)
	if err := first.Start(ctx, nil); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// newHTTP returns a client that follows no redirect. It speaks HTTP/1.1 alone, where a
// request that times out ends its connection: with HTTP/2, the next request would use the
// connection that hangs.
func newHTTP(config *Config) *http.Client {
	transport := config.transport
	if transport == nil {
		protocols := new(http.Protocols)
		protocols.SetHTTP1(true)
		transport = &http.Transport{
			Protocols:              protocols,
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: config.Timeout}).DialContext,
			TLSClientConfig:        config.TLS.Clone(),
			TLSHandshakeTimeout:    config.Timeout,
			IdleConnTimeout:        90 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
		}
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Next returns the next id from memory. If no id is left, Config.RejectedTake decides: by default,
// Next waits for the fetch in flight, and fails with an [*UnavailableError] if no server answers.
func (c *Client) Next() (id uid.ID, err error) {
	taken, err := (*ringbuffer.Ring)(atomic.LoadPointer(&c.ring)).Take()
	return uid.ID(taken), err
}

// NextN is Next for many ids: see [uid.Generator].
func (c *Client) NextN(ids []uid.ID) (int, error) { return c.claims.Load().NextN(ids) }

// Wait is like Next, but also waits while no server answers, until ctx is done.
func (c *Client) Wait(ctx context.Context) (uid.ID, error) { return c.claims.Load().Wait(ctx) }

// WaitN is like NextN, but waits as Wait does.
func (c *Client) WaitN(ctx context.Context, ids []uid.ID) (int, error) {
	return c.claims.Load().WaitN(ctx, ids)
}

// Claim returns up to limit consecutive ids: see [uid.Generator].
func (c *Client) Claim(ctx context.Context, limit int64) (uid.Run, error) {
	return c.claims.Load().Claim(ctx, limit)
}

// TryClaim returns up to limit consecutive ids that are ready: see [uid.Generator].
func (c *Client) TryClaim(limit int64) (uid.Run, error) { return c.claims.Load().TryClaim(limit) }

// All returns an endless sequence of ids for a range loop: see [uid.Generator].
func (c *Client) All(ctx context.Context) iter.Seq2[uid.ID, error] { return c.claims.Load().All(ctx) }

// add makes a session the last one, unless the client is closed.
func (c *Client) add(o *session) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.sessions = append(c.sessions, o)
	}
	return !c.closed
}

func (c *Client) draw(o *session) {
	atomic.StorePointer(&c.ring, unsafe.Pointer(o.Ring()))
	of := deal.ClaimsOf[uid.ID, uid.Run](o.Dealer)
	c.claims.Store(&of)
}

// leave closes the first sessions, as long as they have ended and have no ids left.
func (c *Client) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.closed {
		o := c.sessions[0]
		if o.next.Load() == nil || o.remaining() > 0 {
			return
		}
		c.sessions = c.sessions[1:]
		c.draw(c.sessions[0])
		if c.left != nil {
			add(&c.past, c.left)
		}
		c.left = o
		c.loads.Changes++
		c.running.Go(func() { _ = o.Close() })
	}
}

// Close is [Client.Shutdown] with a timeout of [uid.CloseTimeout].
func (c *Client) Close() error { return deal.Close(c.Shutdown) }

// Shutdown unblocks every waiting call, cancels requests and drops unused ids. Later calls return
// [uid.ErrClosed].
func (c *Client) Shutdown(ctx context.Context) error {
	c.mu.Lock()
	c.closed = true
	sessions := c.sessions
	c.mu.Unlock()
	var faults []error
	for _, o := range sessions {
		faults = append(faults, o.Shutdown(ctx))
	}
	c.running.Wait() // for sessions whose sources do not fetch any more
	c.http.CloseIdleConnections()
	return errors.Join(faults...)
}
