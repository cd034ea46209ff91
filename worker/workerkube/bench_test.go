//go:build linux

package workerkube_test

import (
	"fmt"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasetest"
	"github.com/uidring/uidring/worker/workerkube"
)

// BenchmarkStart and BenchmarkHerd are the cost of a start. Each start of a herd has a Store of its
// own, as processes do.
func BenchmarkStart(b *testing.B) { starts(b).Start(b) }

func BenchmarkHerd(b *testing.B) { starts(b).Herd(b) }

func starts(b *testing.B) leasetest.Benchmark {
	k, n := servertest.StartKube(b), 0
	k.Namespace(b, "herd")
	c := &rest.Config{Host: k.URL(), BearerToken: servertest.KubeAdmin, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAFile: k.CA()}}
	open := func(b *testing.B, _ lease.Store) lease.Store {
		return workerkube.NewStore(c, workerkube.Config{Namespace: "herd", Prefix: fmt.Sprint("t", n)})
	}
	return leasetest.Benchmark{Another: open, Open: func(b *testing.B) lease.Store {
		n++
		return open(b, nil)
	}}
}
