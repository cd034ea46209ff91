// Package schema is the subcommand that prints tables and privileges.
package schema

import (
	"cmp"
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
		user             string
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

--table selects tables of worker numbers, and --segments tables of counters; by default,
all are printed. Each value is a kind, or kind=NAME for a table with another name.
Processes that lease numbers look for the registry's table, and vice versa, so print
both. A Go service may instead set NoOtherTable in worker.StoreConfig, but only if the
other table is never used.

For Redis, etcd, ZooKeeper and Kubernetes, uidringd schema prints permissions as commands
for redis-cli, etcdctl and zkCli.sh, or as objects for kubectl apply. They contain no
password: replace PASSWORD in ZooKeeper's commands, and set the user's password yourself
in Redis and etcd.

uidringd needs only what is printed. A generator with create: true also needs permission
to create counters.`,
		Example: `  uidring schema postgres | psql app
  uidring schema mysql --user "'orders'@'10.%'" | mariadb app
  uidring schema postgres --table lease=ids.lease,registry=ids.node --segments leaf_alloc=ids.leaf
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
				tables, counters = []string{leases, registry}, []string{database.LeafAlloc, database.Sequence}
			}
			db, store, err := dsn.Describe()
			switch {
			case err != nil:
				return err
			case strings.TrimSpace(user) == "" && (store != nil || db.Name() != "sqlite"):
				return cli.Usagef("--user is empty, want the user who gets the privileges, such as ids")
			case store == nil:
				return write(cmd.OutOrStdout(), db, tables, counters, user)
			case flags.Changed("table") || flags.Changed("segments"):
				return cli.Usagef("--table and --segments are for SQL databases, but %s names none", dsn.Origin)
			}
			_, err = io.WriteString(cmd.OutOrStdout(), store.Rights(user))
			return err
		},
	}
	cmd.Flags().StringSliceVar(&tables, "table", nil, "`tables` of worker numbers: lease, registry; lease=NAME for another name")
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
func write(w io.Writer, db *gorm.DB, tables, counters []string, user string) error {
	all, grants, err := open(db, tables, counters)
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
func open(db *gorm.DB, tables, counters []string) (all []table, schemas []string, err error) {
	numbers, err := named("--table", tables, leases, registry)
	if err != nil {
		return nil, nil, err
	}
	segments, err := named("--segments", counters, database.LeafAlloc, database.Sequence)
	if err != nil {
		return nil, nil, err
	}
	for kind, name := range map[string]string{leases: worker.DefaultLeaseTable, registry: worker.DefaultNodeTable} {
		if given, wanted := numbers[kind]; wanted { // by name, since the one beside may have a name of its own
			numbers[kind] = cmp.Or(given, name)
		}
	}
	for _, name := range slices.Concat(slices.Collect(maps.Values(numbers)), slices.Collect(maps.Values(segments))) {
		if schema, _, qualified := strings.Cut(name, "."); qualified && db.Name() == "postgres" {
			schemas = append(schemas, "USAGE ON SCHEMA "+schema)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(numbers)) {
		config := worker.StoreConfig{Table: numbers[kind], NoOtherTable: len(numbers) == 1}
		if kind == leases {
			config.RegistryTable = numbers[registry]
			all = append(all, worker.NewStore(db, config))
			continue
		}
		all = append(all, worker.NewRegistry(db, worker.RegistryConfig{Table: config.Table, LeaseTable: numbers[leases], NoOtherTable: config.NoOtherTable}))
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

// named reads kinds of tables with their names, which are "" by default.
func named(flag string, texts []string, kinds ...string) (map[string]string, error) {
	names := map[string]string{}
	for _, text := range texts {
		kind, name, given := strings.Cut(text, "=")
		if !slices.Contains(kinds, kind) || given && name == "" {
			return nil, cli.Usagef("%s %q: want %s, or one with a name, such as %s=ids.mine", flag, text, strings.Join(kinds, " or "), kinds[0])
		}
		names[kind] = name
	}
	return names, nil
}
