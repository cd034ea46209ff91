//go:build linux

package workerkube_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/internal/holding"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workerkube"
)

// counts counts requests by method.
type counts struct {
	next             http.RoundTripper
	reads, writes, n atomic.Int64
}

func (c *counts) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	if r.Method == http.MethodGet {
		c.reads.Add(1)
	} else {
		c.writes.Add(1)
	}
	return c.next.RoundTrip(r)
}

// number is a lease.Assigner.
type number int64

func (n number) Assign(context.Context, int64) (int64, error) { return int64(n), nil }

// BenchmarkHolders measures what 1,000 holders with the defaults cost an API server and
// its etcd in a minute, and what one more start costs. Run it with -benchtime 1x.
func BenchmarkHolders(b *testing.B) {
	const holders = 1000
	k := servertest.StartKube(b)
	k.Namespace(b, "load")
	counted := new(counts)
	c := &rest.Config{Host: k.URL(), BearerToken: servertest.KubeAdmin, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAFile: k.CA()}}
	c.Wrap(func(next http.RoundTripper) http.RoundTripper { counted.next = next; return counted })
	store := workerkube.NewStore(c, workerkube.Config{Namespace: "load", Prefix: "ids"})
	free := lease.Bounds{To: 1 << 20}
	for b.Loop() {
		each(b, holders, func(i int64) error { // rows that are free
			w := write(i, fmt.Sprint("a", i))
			w.Within = free
			if done, err := store.Insert(b.Context(), w); !done || err != nil {
				return fmt.Errorf("insert: %t, %w", done, err)
			}
			w.Token, w.Change = fmt.Sprint("b", i), lease.Release
			_, err := store.Swap(b.Context(), fmt.Sprint("a", i), w)
			return err
		})
		started := time.Now()
		one, err := lease.New(store, options[0]).Lease(b.Context(), lease.Request{Limit: 1 << 20, Clock: time.Now, Granted: func(lease.Grant) {}})
		must(b, err)
		b.ReportMetric(float64(time.Since(started).Milliseconds()), "ms/start")
		must(b, one.Release(b.Context(), time.Now()))
		each(b, holders, func(i int64) error {
			h, err := lease.New(store, holding.Merge(options[0], lease.Config{Assigner: number(i)})).
				Lease(b.Context(), lease.Request{Limit: 1 << 20, Clock: time.Now, Granted: func(lease.Grant) {}})
			if err == nil {
				b.Cleanup(func() {
					ended, cancel := context.WithCancel(context.Background())
					cancel()
					_ = h.Release(ended, time.Time{})
				})
			}
			return err
		})
		reads, writes := counted.reads.Load(), counted.writes.Load()
		server, etcd := k.Used(b), k.Etcd.Used(b)
		time.Sleep(time.Minute)
		b.ReportMetric(float64(counted.reads.Load()-reads), "reads/min")
		b.ReportMetric(float64(counted.writes.Load()-writes), "writes/min")
		now, kept := k.Used(b), k.Etcd.Used(b)
		b.ReportMetric((now.CPU - server.CPU).Seconds(), "server-s/min")
		b.ReportMetric((kept.CPU - etcd.CPU).Seconds(), "etcd-s/min")
		b.ReportMetric(float64(now.Memory>>20), "server-MB")
		b.ReportMetric(float64(kept.Memory>>20), "etcd-MB")
	}
}

// each calls f for the numbers below n, several at a time.
func each(b *testing.B, n int64, f func(i int64) error) {
	b.Helper()
	var next atomic.Int64
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			for i := next.Add(1) - 1; i < n; i = next.Add(1) - 1 {
				if err := f(i); err != nil {
					b.Error(i, err)
					return
				}
			}
		})
	}
	running.Wait()
	if b.Failed() {
		b.FailNow()
	}
}
