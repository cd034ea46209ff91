//go:build linux

package main

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/cmd/uidringd/internal/stores"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/settled"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// On stores other than SQL databases too, a generator without a layout gets the one that the store remembers.
func TestLayoutIsSettled(t *testing.T) {
	for scheme, start := range places {
		if scheme == "sqlite" || scheme == "mysql" || scheme == "postgres" {
			continue // see the test of the same name in worker
		}
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			quiet := slog.New(slog.DiscardHandler)
			url, homes, kinds := start(t), 0, settled.Kinds
			if scheme == "kube" { // whose starts take seconds
				kinds = kinds[:1]
			}
			settled.Run(t, kinds, func() settled.Home {
				homes++
				open, err := database.DSN{Text: url(fmt.Sprint("settled", homes)), Stores: stores.All}.Leases(t.Context(), lease.Config{})
				need.Must(t, err)
				t.Cleanup(func() { need.Must(t, open.Close()) })
				return settled.Home{
					Fresh:  bits.Fleet(),
					Source: func() uid.WorkerSource { return lease.New(open.Store, lease.Config{Logger: quiet}) },
					Orphans: map[string]func(*testing.T){"leases": func(t *testing.T) {
						if fresh, ok := open.Store.(leasestore.Preparer); ok {
							need.Must(t, fresh.Prepare(t.Context(), quiet))
						}
						_, _, err := open.Store.Insert(t.Context(), leasestore.Write{Fresh: true, Token: "a", Within: leasestore.Range{To: 9}})
						need.Must(t, err)
					}},
				}
			})
		})
	}
}
