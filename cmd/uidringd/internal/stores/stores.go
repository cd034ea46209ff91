// Package stores opens the stores of worker numbers and counters, by URL:
//
//	etcd://user:pass@host1:2379,host2:2379/uidring/workers
//	redis://user:pass@host:6379/0                  one server, at the database 0
//	redis://user:pass@host1:6379,host2:6379        nodes of a cluster
//	redis://host1:26379,host2:26379?master_name=m  Sentinels
//	rediss://…                                     the same, with TLS
//	zk://user:pass@host1:2181,host2:2181/uidring/workers
//	kube://namespace/uidring                       Lease objects of Kubernetes
//
// and every DSN of cmd/internal/database, for SQL databases. [At] names a store by a DSN. SQL
// databases and Redis keep counters too. Errors name the store and who gave the DSN, and
// never have a password.
//
// # Parts of a URL
//
// A host without a port has the store's usual port. Special characters of user,
// password and options are percent-encoded.
//
// The path of etcd is the prefix of the keys; the path of zk is the parent node, chroot
// included. The defaults are those of packages workeretcd and workerzk. The path of redis
// is the number of the database; ?prefix= is the prefix of the keys.
//
// Options, all of them optional:
//
//	timeout=10s                  how long connecting may take
//	tls=true                     etcd, zk: TLS with the system's authorities
//	ca=FILE cert=FILE key=FILE   PEM files for TLS: authorities to trust, and a client's
//	                             certificate with its key
//	session=10s                  zk: how long a session outlives its connection
//	cluster=true                 redis: the one host is a node of a cluster
//
//	kubeconfig=FILE context=C    kube: not those of kubectl
//
// kube names no server. The API server is that of the kubeconfig that kubectl would use, by
// KUBECONFIG or in ~/.kube, else that of the pod. Without a namespace, kube:// takes that of
// the kubeconfig's context, or of the pod. The path is the prefix of the objects' names.
//
// redis also takes the options of go-redis's ParseURL, ParseClusterURL and
// ParseFailoverURL. With Sentinels, user and password are theirs; username= and
// password= are the server's.
//
// With user and password, zk authenticates by digest, and nodes that it creates are
// for that user alone.
package stores

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/uidring/uidring/cmd/internal/database"
)

// All reads the URLs of every store that is no SQL database.
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
	for _, fault := range faults {
		if fault == nil {
			return nil
		}
	}
	return errors.Join(faults...)
}
