//go:build linux

package torture

import (
	"cmp"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/lease"
)

// tally has counters by name.
type tally map[string]float64

func (c tally) add(other tally) {
	for name, n := range other {
		c[name] += n
	}
}

// costs are how many requests a renewal may take, and the counters that a server keeps.
var costs = map[string]struct {
	requests float64
	by       string // how the counters of requests begin, unless the writes to the connection are requests
	counters func(a *access, address string) (tally, error)
}{
	"sqlite":     {0, "", none},
	"mariadb":    {1, "", sqlCounters("SHOW GLOBAL STATUS WHERE Variable_name IN ('Questions', 'Handler_commit', 'Bytes_received', 'Bytes_sent')")},
	"postgres":   {1, "", sqlCounters("SELECT 'xact_commit' AS name, xact_commit AS value FROM pg_stat_database WHERE datname = current_database()")},
	"redis":      {1, "", redisCounters},
	"etcd":       {2, "grpc_server_started_total", etcdCounters},
	"zookeeper":  {2, "", zooKeeperCounters},
	"kubernetes": {1, "apiserver_request_total", kubeCounters}, // with one of the server's own in ten seconds
}

func none(*access, string) (tally, error) { return nil, nil }

func sqlCounters(query string) func(*access, string) (tally, error) {
	return func(a *access, _ string) (tally, error) {
		rows, err := a.sql.Raw(query).Rows()
		if err != nil {
			return nil, err
		}
		defer func() { _ = rows.Close() }()
		c := tally{}
		for rows.Next() {
			var name string
			var value float64
			if err := rows.Scan(&name, &value); err != nil {
				return nil, err
			}
			c[name] = value
		}
		return c, rows.Err()
	}
}

func matched(text, pattern string) tally {
	c := tally{}
	for _, found := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		n, _ := strconv.ParseFloat(found[2], 64)
		c[found[1]] += n
	}
	return c
}

func redisCounters(_ *access, address string) (tally, error) {
	client := redis.NewClient(&redis.Options{Addr: address})
	defer func() { _ = client.Close() }()
	text, err := client.Info(context.Background(), "stats", "commandstats").Result()
	return matched(text, `(total_net_(?:in|out)put_bytes|cmdstat_evalsha):(?:calls=)?(\d+)`), err
}

func etcdCounters(_ *access, address string) (tally, error) {
	return metrics(http.DefaultClient, "http://"+address, `(?m)^(grpc_server_started_total\{grpc_method="(?:Txn|LeaseKeepAlive)"|etcd_network_client_grpc_(?:received|sent)_bytes_total|etcd_server_proposals_committed_total)[^ ]* (.*)$`)
}

func kubeCounters(a *access, address string) (tally, error) {
	return metrics(a.kube, "https://"+address, `(?m)^(apiserver_request_total)\{.*resource="leases".* (.*)$`)
}

// metrics returns those of a server's metrics that match a pattern.
func metrics(client *http.Client, url, pattern string) (tally, error) {
	response, err := client.Get(url + "/metrics")
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return matched(string(text), pattern), err
}

func zooKeeperCounters(_ *access, address string) (tally, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, "srvr")
	text, err := io.ReadAll(conn)
	return matched(string(text), `(Received): (\d+)`), err
}

// spent returns the counters of the servers that processes reach, and of the links of the first seat.
func (b *backend) spent(t *testing.T, name string, a *access) tally {
	c := tally{}
	if name == "postgres" {
		time.Sleep(11 * time.Second) // an idle connection is counted late
	}
	if len(b.links) == 0 {
		return c // SQLite
	}
	for i, l := range b.links[0] {
		more, err := costs[name].counters(a, b.servers[i].address())
		must(t, err)
		c.add(more)
		out, in := l.Carried()
		c.add(tally{"connection: writes": float64(out.Writes), "connection: bytes out": float64(out.Bytes), "connection: bytes in": float64(in.Bytes)})
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

// TestRenewals prints what a renewal costs each store, by the counters of the server and on the connection to it, and
// fails if it takes more requests than docs/choosing.md says.
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
				after, sent := b.spent(t, store.name, direct), 0.0
				for _, name := range slices.Sorted(maps.Keys(after)) {
					each := (after[name] - before[name]) / renewals
					t.Logf("%-50s %8.2f", name, each)
					if strings.HasPrefix(name, cmp.Or(costs[store.name].by, "connection: writes")) {
						sent += each
					}
				}
				if sent > costs[store.name].requests+0.5 {
					t.Errorf("a renewal takes %.2f requests; want %.0f", sent, costs[store.name].requests)
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
	holders, _ := strconv.Atoi(os.Getenv("UIDRING_HOLDERS"))
	if holders == 0 {
		t.Skip("UIDRING_HOLDERS is not set")
	}
	for _, store := range backends[1:3] {
		t.Run(store.name, func(t *testing.T) {
			b := store.open(t.Context(), t, t.TempDir())
			must(t, b.prepare(t.Context(), false))
			a, err := open(b.url([]string{b.servers[0].address()}))
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
				used, before := b.servers[0].process.Used(t), b.spent(t, store.name, a)
				began := time.Now()
				for time.Since(began) < d {
					time.Sleep(100 * time.Millisecond)
					tick()
				}
				after, cpu := b.spent(t, store.name, a), b.servers[0].process.Used(t).CPU-used.CPU
				t.Logf("%s: %v of processor time in %v", what, cpu, time.Since(began).Round(time.Millisecond))
				for _, name := range slices.Sorted(maps.Keys(after)) {
					t.Logf("%s: %-20s %10.0f", what, name, after[name]-before[name])
				}
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
