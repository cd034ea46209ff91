//go:build linux

package workerkube_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/internal/holding"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workerkube"
)

// BenchmarkHolders measures what 1,000 holders with the defaults cost an API server and
// its etcd in a minute, and what one more start costs. Run it with -benchtime 1x.
func BenchmarkHolders(b *testing.B) {
	const holders = 1000
	k := servertest.StartKube(b)
	k.Namespace(b, "load")
	var reads, writes atomic.Int64
	c := &rest.Config{Host: k.URL(), BearerToken: servertest.KubeAdmin, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAFile: k.CA()}}
	c.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return transport(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodGet {
				reads.Add(1)
			} else {
				writes.Add(1)
			}
			return next.RoundTrip(r)
		})
	})
	store := workerkube.NewStore(c, workerkube.Config{Namespace: "load", Prefix: "ids"})
	free := lease.Bounds{To: 1 << 20}
	for b.Loop() {
		each(b, holders, func(i int64) error { // rows that are free
			w := write(i, fmt.Sprint("a", i))
			w.Within = free
			if _, done, err := store.Insert(b.Context(), w); !done || err != nil {
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
			leaser := lease.New(store, holding.Merge(options[0], lease.Config{Assigner: uid.StaticWorker(i)}))
			_, err := holding.Try(b.Context(), b, leaser, 1<<20, time.Now)
			return err
		})
		readBefore, writtenBefore := reads.Load(), writes.Load()
		server, etcd := k.Used(b), k.Etcd.Used(b)
		time.Sleep(time.Minute)
		b.ReportMetric(float64(reads.Load()-readBefore), "reads/min")
		b.ReportMetric(float64(writes.Load()-writtenBefore), "writes/min")
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
