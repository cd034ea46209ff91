package database

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// Stores opens stores other than SQL databases, by the scheme of their URL. uidring has
// none of them, so that it links SQL drivers alone; uidringd has all.
type Stores map[string]func(url string) (*Store, error)

// Store is a URL of such a store that was understood.
type Store struct {
	Name    string        // for messages: without password and options
	Timeout time.Duration // within which Open has to connect

	// Open and Counters connect. The function that they return closes the connection.
	// Counters is nil if the store keeps no counters.
	Open     func(ctx context.Context) (leasestore.Store, func() error, error)
	Counters func(ctx context.Context, logger *slog.Logger) (CounterStore, func() error, error)

	Rights func(user string) string // the store's own text that gives a user what a service needs
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

// store returns the function that reads the DSN, or nil if that names an SQL
// database.
func (d DSN) store() func(string) (*Store, error) {
	scheme, _, found := strings.Cut(d.Text, "://")
	if !found {
		return nil
	}
	return d.Stores[strings.ToLower(scheme)]
}

// SQL reports whether the DSN names an SQL database. Only those have registered numbers.
func (d DSN) SQL() bool { return d.store() == nil }

// Check returns what is wrong with the DSN, as a [cli.UsageError], without connecting.
func (d DSN) Check() error {
	_, _, err := d.read()
	return err
}

// Leases is an open store of leased worker numbers. It is safe for concurrent use.
type Leases struct {
	*Opened
	*lease.Leaser
	Store leasestore.Store
}

// Leases connects to the store, which may be one of Stores.
func (d DSN) Leases(ctx context.Context, config lease.Config) (*Leases, error) {
	l := new(Leases)
	var err error
	l.Opened, err = d.open(ctx, func(ctx context.Context, s *Store) (end func() error, err error) {
		l.Store, end, err = s.Open(ctx)
		return end, err
	})
	if err != nil {
		return nil, err
	}
	if l.DB != nil {
		l.Store = worker.NewStore(l.DB, worker.StoreConfig{})
	}
	l.Leaser = lease.New(l.Store, config)
	return l, nil
}

// WithLeases calls f with the store that the command names, which has to exist, and puts the store's name into errors.
func WithLeases(ctx context.Context, cmd *cobra.Command, stores Stores, f func(*Leases) error) error {
	dsn := Of(cmd, stores)
	dsn.Existing = true
	open, err := dsn.Leases(ctx, lease.Config{})
	if err != nil {
		return err
	}
	return errors.Join(open.Wrap(f(open)), open.Close())
}

// Source gives worker numbers from a store that remembers a layout.
type Source interface {
	uid.WorkerSource
	fmt.Stringer
	Layout(ctx context.Context) (layout string, stored bool, err error)
}

// Source returns where the store's worker numbers come from: leases, or the registry of an SQL
// database. missing names the tables that the next start will create.
func (l *Leases) Source(ctx context.Context, registry bool, logger *slog.Logger) (from Source, missing string) {
	if l.DB == nil {
		return l.Leaser, ""
	}
	nodes := worker.NewRegistry(l.DB, worker.RegistryConfig{Logger: logger})
	if !registry {
		if _, err := l.Leases(ctx, 1); !errors.Is(err, worker.ErrNoTable) {
			return l.Leaser, ""
		}
	}
	_, err := nodes.Nodes(ctx, 1)
	switch none := errors.Is(err, worker.ErrNoTable); {
	case registry && none:
		return nodes, "table " + nodes.String()
	case registry:
		return nodes, ""
	case none:
		return l.Leaser, "tables " + nodes.String() + " and " + l.Leaser.String()
	}
	return l.Leaser, "table " + l.Leaser.String()
}

// CompleteNumber completes a leased number that is not free.
func CompleteNumber(stores Stores) cobra.CompletionFunc {
	return complete(func(ctx context.Context, cmd *cobra.Command) (numbers []cobra.Completion) {
		_ = WithLeases(ctx, cmd, stores, func(open *Leases) error {
			leases, err := open.Leases(ctx, 0)
			for _, l := range leases {
				if l.State != lease.StateFree {
					numbers = append(numbers, strconv.FormatInt(l.Number, 10))
				}
			}
			return err
		})
		return numbers
	})
}

// complete offers words of the store for the only argument or a flag, if the store answers soon.
func complete(list func(context.Context, *cobra.Command) []cobra.Completion) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) (words []cobra.Completion, _ cobra.ShellCompDirective) {
		if len(args) == 0 {
			ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
			defer cancel()
			cmd.SetContext(ctx)
			words = list(ctx, cmd)
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}
