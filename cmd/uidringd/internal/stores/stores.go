// Package stores opens the stores of worker numbers and counters, by URL. [Reference] describes
// the URLs. [At] names a store by a DSN, which may name an SQL database too.
package stores

import (
	"context"
	_ "embed"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/uidring/uidring/cmd/internal/database"
)

// Reference describes the URLs, in Markdown.
//
//go:embed reference.txt
var Reference string

// All reads the URLs of every store but SQL databases.
var All = make(database.Stores)

func init() {
	readers := database.Stores{database.Etcd: etcd, database.Redis: redisServers, database.ZK: zooKeeper, database.Kube: kubernetes}
	for scheme, kind := range database.Kinds {
		All[scheme] = readers[kind]
	}
}

// At is the DSN of any store. origin is the flag, variable or field
// that has the DSN, for errors.
func At(dsn, origin string) database.DSN {
	return database.DSN{Text: dsn, Origin: origin, Stores: All}
}

// patience is how long connecting may take, unless the URL says otherwise.
const patience = 10 * time.Second

// reach returns nil when one of the hosts accepts a connection, or else the reason.
// Clients try again until their time is up, and then give no reason.
func reach(ctx context.Context, hosts []string) error {
	var (
		faults = make([]error, len(hosts))
		dials  sync.WaitGroup
	)
	for i, host := range hosts {
		dials.Go(func() {
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", host)
			if err == nil {
				err = conn.Close()
			}
			faults[i] = err
		})
	}
	dials.Wait()
	if slices.Contains(faults, nil) {
		return nil
	}
	return errors.Join(faults...)
}
