// Package schema is the subcommand that prints tables and privileges.
package schema

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gorm.io/gorm"

	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/uid/segment/segmentsql"
	"github.com/uidring/uidring/worker"
)

// The tables of worker numbers; those of counters are in package database.
const (
	leases   = "lease"
	registry = "registry"
)

// sqlKinds are the words for SQL databases, and otherKinds those for other stores.
var (
	sqlKinds   = []string{"mysql", "mariadb", "postgres", "sqlite"}
	otherKinds = []string{"redis", "etcd", "zookeeper", "kubernetes"}
)

// kinds are words that stand for a DSN.
var kinds = map[string]string{
	"mysql": "mysql://localhost:3306/ids", "mariadb": "mysql://localhost:3306/ids", "postgres": "postgres://localhost:5432/ids", "sqlite": database.Default,
	"redis": "redis://localhost", "etcd": "etcd://localhost", "zookeeper": "zk://localhost", "kubernetes": "kube://",
}

// New returns the subcommand. It knows the rights in stores too, not only in SQL databases.
func New(stores database.Stores) *cobra.Command {
	var (
		tables, counters []string
		prefix, user     string
	)
	words := sqlKinds
	if len(stores) > 0 {
		words = slices.Concat(sqlKinds, otherKinds)
	}
	cmd := &cobra.Command{
		Use:   "schema [DATABASE]",
		Short: "Print the statements that create the tables and grant a service its privileges",
		Long: `schema prints the statements that create the tables, and those that grant a running
service's user its privileges. By default, a generator creates missing tables when it
starts; a Go service with worker.StoreConfig{NoSchema: true} never does. Pipe the output
into the database's client (mariadb, psql or sqlite3), as a user who may create tables.
The service's user must exist.

DATABASE is one of ` + strings.Join(words, ", ") + `. Without it, --dsn names
the database. schema does not connect to it.

--table selects tables of worker numbers: lease needs WORKER_NODE and WORKER_LEASE, and
registry needs WORKER_NODE alone. --prefix is written before their names, as a Go service
has it in worker.StoreConfig. --segments selects tables of counters, each of which may
have another name: kind=NAME. By default, all tables are printed.

For Redis, etcd, ZooKeeper and Kubernetes, uidringd schema prints permissions as commands
for redis-cli, etcdctl and zkCli.sh, or as objects for kubectl apply. They contain no
password: replace PASSWORD in ZooKeeper's commands, and set the user's password yourself
in Redis and etcd.

uidringd needs only what is printed. A generator with create: true also needs permission
to create counters.`,
		Example: `  uidring schema postgres | psql app
  uidring schema mysql --user "'orders'@'10.%'" | mariadb app
  uidring schema postgres --prefix ids. --segments leaf_alloc=ids.leaf
  uidringd schema --dsn "redis://host/?prefix={orders}" | redis-cli`,
		Args:      cli.AtMostOneArg("kind of database, such as " + words[0]),
		ValidArgs: words,
		RunE: func(cmd *cobra.Command, args []string) error {
			dsn, flags := database.Of(cmd, stores), cmd.Flags()
			if len(args) > 0 {
				text, known := kinds[args[0]]
				switch {
				case known && !slices.Contains(words, args[0]):
					return cli.Usagef("%[1]s is not an SQL database; its permissions are printed by uidringd schema %[1]s (go install github.com/uidring/uidring/cmd/uidringd@latest)", args[0])
				case !known:
					return cli.Usagef("%q is not a kind of database; want %s", args[0], strings.Join(words, ", "))
				case flags.Changed("dsn"):
					return cli.Usagef("want %s or --dsn, not both", args[0])
				}
				dsn.Text, dsn.Origin = text, args[0]
			}
			if !flags.Changed("table") && !flags.Changed("segments") {
				tables, counters = []string{leases}, []string{database.LeafAlloc, database.Sequence}
			}
			db, store, err := dsn.Describe()
			switch {
			case err != nil:
				return err
			case strings.TrimSpace(user) == "" && (store != nil || db.Name() != "sqlite"):
				return cli.Usagef("--user is empty, want the user who gets the privileges, such as ids")
			case store == nil:
				return write(cmd.OutOrStdout(), db, tables, prefix, counters, user)
			case flags.Changed("table") || flags.Changed("segments") || flags.Changed("prefix"):
				return cli.Usagef("--table, --prefix and --segments are for SQL databases, but %s names none", dsn.Origin)
			}
			_, err = io.WriteString(cmd.OutOrStdout(), store.Rights(user))
			return err
		},
	}
	cmd.Flags().StringSliceVar(&tables, "table", nil, "what takes worker numbers, which decides the `tables`: lease, registry")
	cmd.Flags().StringVar(&prefix, "prefix", "", "what the names of the tables of worker numbers begin with, such as ids. or orders_")
	cmd.Flags().StringSliceVar(&counters, "segments", nil, "`tables` of counters: leaf_alloc, sequence; leaf_alloc=NAME for another name")
	cmd.Flags().StringVar(&user, "user", "ids", "user who gets the privileges, in the database's syntax")
	database.Flag(cmd, stores)
	return cmd
}

// table is what the handles on all tables have.
type table interface {
	Schema() (string, error)
	Grants() []string
	CreateGrants() []string
}

// write prints the statements that make tables in an SQL database.
func write(w io.Writer, db *gorm.DB, tables []string, prefix string, counters []string, user string) error {
	all, grants, err := open(db, tables, prefix, counters)
	if err != nil {
		return err
	}
	slices.Sort(grants)
	var creates []string
	var text strings.Builder
	for _, t := range all {
		create, err := t.Schema()
		if err != nil {
			return &cli.UsageError{Err: err}
		}
		fmt.Fprintf(&text, "%s;\n\n", create)
		grants, creates = append(grants, t.Grants()...), append(creates, t.CreateGrants()...)
	}
	grant := func(before string, rights []string) {
		for i, right := range rights {
			if !slices.Contains(rights[:i], right) {
				fmt.Fprintf(&text, "%sGRANT %s TO %s;\n", before, right, user)
			}
		}
	}
	switch {
	case db.Name() == "sqlite":
		text.WriteString("-- SQLite has no users: a service must be able to write the file and its folder.\n")
	default:
		text.WriteString("-- What a service needs:\n")
		grant("", grants)
		text.WriteString("\n-- Who creates missing tables, as a start does without NoSchema, or counters needs this too:\n")
		grant("-- ", creates)
	}
	_, err = io.WriteString(w, text.String())
	return err
}

// open returns the tables, and the rights on their schemas.
func open(db *gorm.DB, tables []string, prefix string, counters []string) (all []table, schemas []string, err error) {
	for _, kind := range tables {
		if kind != leases && kind != registry {
			return nil, nil, cli.Usagef("--table %q: want %s or %s", kind, leases, registry)
		}
	}
	if err := (worker.StoreConfig{Prefix: prefix}).Validate(); err != nil {
		return nil, nil, cli.Usagef("--prefix: %s", cli.WithoutPrefix(err))
	}
	segments := map[string]string{} // names by kind, which are empty by default
	for _, text := range counters {
		kind, name, given := strings.Cut(text, "=")
		if kind != database.LeafAlloc && kind != database.Sequence || given && name == "" {
			return nil, nil, cli.Usagef("--segments %q: want leaf_alloc or sequence, or one with a name, such as leaf_alloc=ids.mine", text)
		}
		segments[kind] = name
	}
	for _, name := range append(slices.Collect(maps.Values(segments)), prefix) {
		if schema, _, qualified := strings.Cut(name, "."); qualified && db.Name() == "postgres" && !slices.Contains(schemas, "USAGE ON SCHEMA "+schema) {
			schemas = append(schemas, "USAGE ON SCHEMA "+schema)
		}
	}
	switch {
	case slices.Contains(tables, leases): // which has the registry's table too
		all = append(all, worker.NewStore(db, worker.StoreConfig{Prefix: prefix}))
	case len(tables) > 0:
		all = append(all, worker.NewRegistry(db, worker.RegistryConfig{Prefix: prefix}))
	}
	for _, kind := range slices.Sorted(maps.Keys(segments)) {
		config := segmentsql.Config{Table: segments[kind]}
		if kind == database.Sequence {
			all = append(all, segmentsql.NewSequence(db, config))
		} else {
			all = append(all, segmentsql.NewLeafAlloc(db, config))
		}
	}
	return all, schemas, nil
}
