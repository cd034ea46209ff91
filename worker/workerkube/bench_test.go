//go:build linux

package workerkube_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
	"github.com/uidring/uidring/worker/workerkube"
)

// BenchmarkStart and BenchmarkHerd are the cost of a start. Each start of a herd has a Store of its
// own, as processes do.
func BenchmarkStart(b *testing.B) { starts(b).Start(b) }

func BenchmarkHerd(b *testing.B) { starts(b).Herd(b) }

func starts(b *testing.B) leasetest.Benchmark {
	k, n := servertest.StartKube(b), 0
	c := benchConfig(b, k)
	open := func(b *testing.B, _ leasestore.Store) leasestore.Store {
		return workerkube.NewStore(c, workerkube.Config{Namespace: "bench", Prefix: fmt.Sprint("t", n)})
	}
	return leasetest.Benchmark{Starts: []int{100, 300, 1000}, Another: open, Open: func(b *testing.B) leasestore.Store {
		n++
		return open(b, nil)
	}}
}

func benchConfig(b *testing.B, k *servertest.Kube) *rest.Config {
	k.Namespace(b, "bench")
	return &rest.Config{Host: k.URL(), BearerToken: servertest.KubeAdmin, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAFile: k.CA()}}
}

// BenchmarkHolders measures what 1,000 holders with the defaults cost an API server and its etcd
// in a minute, with -short 50. Run it with -benchtime 1x.
func BenchmarkHolders(b *testing.B) {
	k := servertest.StartKube(b)
	c, sent := benchConfig(b, k), map[bool]*atomic.Int64{true: new(atomic.Int64), false: new(atomic.Int64)}
	c.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return transport(func(r *http.Request) (*http.Response, error) {
			sent[r.Method == http.MethodGet].Add(1)
			return next.RoundTrip(r)
		})
	})
	store := workerkube.NewStore(c, workerkube.Config{Namespace: "bench"})
	holders := 1000
	if testing.Short() {
		holders = 50
	}
	for b.Loop() {
		for range holders {
			_, err := holdertest.Try(b.Context(), b, leaser(store, lease.Config{Expiry: time.Minute}), 1<<20, time.Now)
			must(b, err)
		}
		reads, writes, server, etcd := sent[true].Load(), sent[false].Load(), k.Used(b), k.Etcd.Used(b)
		time.Sleep(time.Minute)
		b.ReportMetric(float64(sent[true].Load()-reads), "reads/min")
		b.ReportMetric(float64(sent[false].Load()-writes), "writes/min")
		now, kept := k.Used(b), k.Etcd.Used(b)
		b.ReportMetric((now.CPU - server.CPU).Seconds(), "server-s/min")
		b.ReportMetric((kept.CPU - etcd.CPU).Seconds(), "etcd-s/min")
		b.ReportMetric(float64(now.Memory>>20), "server-MB")
		b.ReportMetric(float64(kept.Memory>>20), "etcd-MB")
	}
}
