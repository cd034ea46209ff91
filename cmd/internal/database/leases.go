package database

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// Stores reads the URLs of stores that are no SQL database, by the URL's scheme. uidring has none of them, so that it links SQL
// drivers alone; uidringd has all.
type Stores map[string]func(url string) (*Store, error)

// Store is a URL of such a store that was understood.
type Store struct {
	Name    string        // for messages: without password and options
	Timeout time.Duration // within which Open has to connect

	// Open and Counters connect. The function that they return closes the connection.
	// Counters is nil if the store keeps no counters.
	Open     func(ctx context.Context) (lease.Store, func() error, error)
	Counters func(ctx context.Context, logger *slog.Logger) (CounterStore, func() error, error)
}

// The kinds of stores.
const (
	SQL   = "sql"
	Redis = "redis"
	Etcd  = "etcd"
	ZK    = "zk"
	Kube  = "kube"
)

// Kinds are the kinds of the stores that uidringd reads beside SQL databases, by the
// URL's scheme.
var Kinds = map[string]string{"etcd": Etcd, "redis": Redis, "rediss": Redis, "zk": ZK, "kube": Kube}

// KindOf returns the kind of the store that a DSN names. It is SQL if the scheme is none of
// [Kinds].
func KindOf(dsn string) string {
	scheme, _, _ := strings.Cut(dsn, "://")
	return cmp.Or(Kinds[strings.ToLower(scheme)], SQL)
}

// errElsewhere is the error where an SQL database is wanted.
func errElsewhere(scheme string) error {
	return fmt.Errorf("%s:// names a store for uidringd gen, uidringd workers and, if it is Redis, uidringd segments "+
		"(go install github.com/uidring/uidring/cmd/uidringd@latest); here want %s", scheme, accepted)
}

// schemes are the schemes of the stores, in order.
func (s Stores) schemes() []string { return slices.Sorted(maps.Keys(s)) }

// store returns the function that reads the place's DSN, or nil if that names an SQL
// database.
func (p Place) store() func(string) (*Store, error) {
	scheme, _, found := strings.Cut(p.DSN, "://")
	if !found {
		return nil
	}
	return p.Stores[strings.ToLower(scheme)]
}

// SQL reports whether the place is an SQL database. Only those have registered numbers.
func (p Place) SQL() bool { return p.store() == nil }

// Check returns what is wrong with the DSN, as a [cli.UsageError], without connecting.
func (p Place) Check() error {
	var err error
	if read := p.store(); read != nil {
		_, err = read(p.DSN)
	} else {
		_, err = p.target()
	}
	return p.usage(err)
}

// Leases is an open store of leased worker numbers. It is safe for concurrent use.
type Leases struct {
	*lease.Leaser
	Store lease.Store
	Name  string // for messages: without password and options
	DB    *DB    // nil if the store is no SQL database
	close func() error
	at    Place
}

// Wrap returns err with the name of the store. It returns nil for nil.
func (l *Leases) Wrap(err error) error { return l.at.Fault(l.Name, err) }

// Close closes the connection. Close generators first.
func (l *Leases) Close() error { return l.Wrap(l.close()) }

// Leases connects to the place, which may be one of its Stores, as [Place.Open] does.
func (p Place) Leases(ctx context.Context, config lease.Config) (*Leases, error) {
	return p.leases(ctx, true, config)
}

// ExistingLeases is Leases, except that an SQLite file that is not there is an error
// that matches [os.ErrNotExist].
func (p Place) ExistingLeases(ctx context.Context, config lease.Config) (*Leases, error) {
	return p.leases(ctx, false, config)
}

func (p Place) leases(ctx context.Context, create bool, config lease.Config) (*Leases, error) {
	read := p.store()
	if read == nil {
		db, err := p.open(ctx, create)
		if err != nil {
			return nil, err
		}
		rows := worker.NewStore(db.DB, worker.StoreConfig{})
		return &Leases{lease.New(rows, config), rows, db.Name, db, db.Close, p}, nil
	}
	store, err := read(p.DSN)
	if err != nil {
		return nil, p.usage(err)
	}
	l := &Leases{Name: store.Name, at: p}
	err = within(ctx, store.Timeout, func(ctx context.Context) (err error) {
		l.Store, l.close, err = store.Open(ctx)
		return err
	})
	if err != nil {
		return nil, p.Fault(store.Name, err)
	}
	l.Leaser = lease.New(l.Store, config)
	return l, nil
}
