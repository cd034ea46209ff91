//go:build linux

package torture

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/lease"
)

// costs are how many requests a renewal may take, and which of a server's metrics count requests. Without metrics,
// each write to the connection is a request.
var costs = map[string]struct {
	requests float64
	scheme   string
	metrics  *regexp.Regexp
}{
	"mariadb":    {requests: 1},
	"postgres":   {requests: 1},
	"redis":      {requests: 1},
	"zookeeper":  {requests: 2},
	"etcd":       {2, "http", regexp.MustCompile(`(?m)^grpc_server_started_total\{grpc_method="(?:Txn|LeaseKeepAlive)"[^ ]* (.*)$`)},
	"kubernetes": {1, "https", regexp.MustCompile(`(?m)^apiserver_request_total\{.*resource="leases".* (.*)$`)}, // with one of the server's own in ten seconds
}

// tally is what the links of the first seat have carried.
type tally struct{ requests, out, in float64 }

func (b *backend) spent(t *testing.T, name string, a *access) (c tally) {
	if len(b.links) == 0 {
		return c // SQLite
	}
	cost := costs[name]
	for i, l := range b.links[0] {
		out, in := l.Carried()
		c.out += float64(out.Bytes)
		c.in += float64(in.Bytes)
		if cost.metrics == nil {
			c.requests += float64(out.Writes)
			continue
		}
		response, err := cmp.Or(a.kube, http.DefaultClient).Get(cost.scheme + "://" + b.servers[i].Address + "/metrics")
		must(t, err)
		text, err := io.ReadAll(response.Body)
		must(t, errors.Join(err, response.Body.Close()))
		for _, found := range cost.metrics.FindAllSubmatch(text, -1) {
			n, err := strconv.ParseFloat(string(found[1]), 64)
			must(t, err)
			c.requests += n
		}
	}
	return c
}

// renewing is a holder that renews when it is told to.
type renewing struct {
	lease.Lease
	last atomic.Pointer[lease.Grant]
}

func renews(ctx context.Context, a *access) (h *renewing, err error) {
	h = new(renewing)
	h.Lease, err = lease.New(a.leases, lease.Config{Logger: silent}).Lease(ctx, lease.Request{
		Limit: 1 << 20, Clock: time.Now, Granted: func(g lease.Grant) { h.last.Store(&g) }, Layout: "fleet",
	})
	return h, err
}

func (h *renewing) renew(t *testing.T) {
	until := h.last.Load().Until
	h.Use(until, until)
	servertest.Eventually(t, "more is reserved", func() bool { return h.last.Load().Until.After(until) })
}

// TestRenewals prints what a renewal costs each store, and fails if it takes more requests than docs/choosing.md says.
//
//	go test ./internal/lab/torture -run TestRenewals -v
func TestRenewals(t *testing.T) {
	const renewals = 100
	for _, store := range backends {
		t.Run(store.name, func(t *testing.T) {
			b := store.open(t.Context(), t, t.TempDir())
			must(t, b.prepare(t.Context(), false))
			a, err := open(b.seatURL(0))
			must(t, err)
			defer a.close()
			h, err := renews(t.Context(), a)
			must(t, err)
			for range 5 { // the first prepare statements, and learn what is there
				h.renew(t)
			}
			must(t, b.with(t.Context(), func(direct *access) error {
				before := b.spent(t, store.name, direct)
				for range renewals {
					h.renew(t)
				}
				after := b.spent(t, store.name, direct)
				sent := (after.requests - before.requests) / renewals
				t.Logf("%.2f requests, %.0f bytes out and %.0f in", sent, (after.out-before.out)/renewals, (after.in-before.in)/renewals)
				if want := costs[store.name].requests; sent > want+0.5 {
					t.Errorf("a renewal takes %.2f requests; want %.0f", sent, want)
				}
				return nil
			}))
			must(t, h.Release(t.Context(), time.Now()))
		})
	}
}

// TestHolders prints the processor time of PostgreSQL and MariaDB in a minute of UIDRING_HOLDERS holders with the
// defaults, and in half a minute of a tenth of them that borrow time.
func TestHolders(t *testing.T) {
	holders := need.Number(t, "UIDRING_HOLDERS", 0)
	if holders == 0 {
		t.Skip("UIDRING_HOLDERS is not set")
	}
	for _, store := range backends[1:3] {
		t.Run(store.name, func(t *testing.T) {
			b := store.open(t.Context(), t, t.TempDir())
			must(t, b.prepare(t.Context(), false))
			a, err := open(b.url([]string{b.servers[0].Address}))
			must(t, err)
			defer a.close()
			pool, err := a.sql.DB()
			must(t, err)
			pool.SetMaxOpenConns(16)
			pool.SetMaxIdleConns(16)
			all := make([]*renewing, holders)
			var starting errgroup.Group
			starting.SetLimit(16)
			began := time.Now()
			for i := range all {
				starting.Go(func() (err error) {
					all[i], err = renews(t.Context(), a)
					return err
				})
			}
			must(t, starting.Wait())
			t.Logf("%d holders started in %v", holders, time.Since(began))
			measure := func(what string, d time.Duration, tick func()) {
				used, began := b.servers[0].Used(t).CPU, time.Now()
				for time.Since(began) < d {
					time.Sleep(100 * time.Millisecond)
					tick()
				}
				cpu := b.servers[0].Used(t).CPU - used
				t.Logf("%s: %v of processor time in %v", what, cpu, time.Since(began).Round(time.Millisecond))
			}
			defer func() {
				for _, h := range all {
					ended, end := context.WithCancel(t.Context())
					end()
					_ = h.Release(ended, time.Time{})
				}
			}()
			measure("idle", time.Minute, func() {})
			measure("a tenth borrows", 30*time.Second, func() {
				for _, h := range all[:holders/10] {
					until := h.last.Load().Until
					h.Use(until.Add(-time.Second), until.Add(time.Hour))
				}
			})
		})
	}
}
