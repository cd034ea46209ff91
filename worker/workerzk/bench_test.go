//go:build linux

package workerzk_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/internal/leaserow"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// BenchmarkStart and BenchmarkHerd are the cost of a start. Each start of a herd has a Store of its
// own, as processes do.
func BenchmarkStart(b *testing.B) { starts(b).Start(b) }

func BenchmarkHerd(b *testing.B) { starts(b).Herd(b) }

func starts(b *testing.B) leasetest.Benchmark {
	conn, path := connect(b, shared(b), 20*time.Second, nil), ""
	open := func(b *testing.B, _ leasestore.Store) leasestore.Store { return prepared(b, conn, path) }
	return leasetest.Benchmark{Another: open, Open: func(b *testing.B) leasestore.Store {
		path = newPath()
		return open(b, nil)
	}, Fill: func(b *testing.B, _ leasestore.Store, rows int64) {
		acl := zk.WorldACL(zk.PermAll)
		ops := []any{&zk.CreateRequest{Path: path + "/given/" + leaserow.Digits(0), Data: fmt.Append(nil, rows), Acl: acl}}
		for n := range rows {
			row := leaserow.Row{}.After(leasestore.Write{Token: fmt.Sprint("t", n), Until: 1, Change: leasestore.Acquire, Expiry: time.Hour})
			number := path + "/number/" + leaserow.Digits(n)
			ops = append(ops, &zk.CreateRequest{Path: number, Data: row.JSON(), Acl: acl}, &zk.CreateRequest{Path: number + "/alive", Acl: acl, Flags: zk.FlagEphemeral})
			if len(ops) > 200 || n == rows-1 {
				if _, err := conn.Multi(ops...); err != nil {
					b.Fatal(err)
				}
				ops = nil
			}
		}
	}}
}
