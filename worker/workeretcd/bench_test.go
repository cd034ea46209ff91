//go:build linux

package workeretcd_test

import (
	"fmt"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/uidring/uidring/internal/leaserow"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
	"github.com/uidring/uidring/worker/workeretcd"
)

// BenchmarkStart and BenchmarkHerd are the cost of a start. Each start of a herd has a Store of its
// own, as processes do.
func BenchmarkStart(b *testing.B) { starts(b).Start(b) }

func BenchmarkHerd(b *testing.B) { starts(b).Herd(b) }

func starts(b *testing.B) leasetest.Benchmark {
	members, n := servertest.StartEtcd(b, 1), 0
	client, prefix := connect(b, members), ""
	open := func(b *testing.B, _ leasestore.Store) leasestore.Store {
		return workeretcd.NewStore(client, workeretcd.Config{Prefix: prefix})
	}
	return leasetest.Benchmark{Another: open, Open: func(b *testing.B) leasestore.Store {
		n++
		prefix = fmt.Sprint("/", n)
		return open(b, nil)
	}, Fill: func(b *testing.B, _ leasestore.Store, rows int64) {
		granted, err := client.Grant(b.Context(), 3600)
		must(b, err)
		for from := int64(0); from < rows; from += 60 {
			ops := []clientv3.Op{clientv3.OpPut(prefix+"/given/"+leaserow.Digits(0), fmt.Sprint(rows))}
			for n := from; n < min(from+60, rows); n++ {
				row := leaserow.Row{}.After(holdertest.Write(n, fmt.Sprint("t", n)))
				ops = append(ops, clientv3.OpPut(prefix+"/number/"+leaserow.Digits(n), string(row.JSON())),
					clientv3.OpPut(prefix+"/alive/"+leaserow.Digits(n), "", clientv3.WithLease(granted.ID)))
			}
			_, err := client.Txn(b.Context()).Then(ops...).Commit()
			must(b, err)
		}
	}}
}
