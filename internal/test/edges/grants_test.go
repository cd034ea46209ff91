//go:build linux

package edges

import (
	"context"
	"regexp"
	"slices"
	"testing"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment/segmentsql"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// granted is a call by a database user without rights. Its errors name the missing rights, one after
// another: those of needs if the tables exist, and those of creates if they do not (on MySQL).
type granted struct {
	call    func(ctx context.Context, db *gorm.DB) error
	needs   []string
	creates []string
}

// grantedCalls has all calls of a counter's store, and the starts of the sources of numbers.
func grantedCalls() map[string]granted {
	table := segmentsql.NewLeafAlloc(nil, segmentsql.Config{}).Grants()
	insert := append([]string{"INSERT ON TABLE leaf_alloc"}, table...)
	counter := func(call func(ctx context.Context, s *segmentsql.Store, db *gorm.DB) error) func(context.Context, *gorm.DB) error {
		return func(ctx context.Context, db *gorm.DB) error {
			return call(ctx, segmentsql.NewLeafAlloc(db, segmentsql.Config{Logger: quiet}), db)
		}
	}
	start := func(open func(db *gorm.DB) uid.WorkerSource) func(context.Context, *gorm.DB) error {
		return func(ctx context.Context, db *gorm.DB) error {
			gen, err := uid.NewDefault(ctx, open(db), uid.DefaultConfig{Logger: quiet})
			if err != nil {
				return err
			}
			return gen.Close()
		}
	}
	return map[string]granted{
		"Reserve": {counter(func(ctx context.Context, s *segmentsql.Store, _ *gorm.DB) error {
			_, _, err := s.Reserve(ctx, "orders", 5)
			return err
		}), table, nil},
		"Return": {counter(func(ctx context.Context, s *segmentsql.Store, _ *gorm.DB) error {
			_, err := s.Return(ctx, "orders", 1, 6)
			return err
		}), table, nil},
		"List": {counter(func(ctx context.Context, s *segmentsql.Store, _ *gorm.DB) error {
			_, err := s.List(ctx)
			return err
		}), table, nil},
		"Raise": {counter(func(ctx context.Context, s *segmentsql.Store, _ *gorm.DB) error {
			_, err := s.Raise(ctx, "orders", 9)
			return err
		}), table, nil},
		"RaiseAbove": {counter(func(ctx context.Context, s *segmentsql.Store, _ *gorm.DB) error {
			_, err := s.RaiseAbove(ctx, "orders", "bills", "id")
			return err
		}), append([]string{"SELECT ON TABLE bills"}, table...), nil},
		"NextGapless": {counter(func(ctx context.Context, s *segmentsql.Store, db *gorm.DB) error {
			return db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
				_, err := s.NextGapless(tx, "invoices")
				return err
			})
		}), table, nil},
		"Create": {counter(func(ctx context.Context, s *segmentsql.Store, _ *gorm.DB) error {
			return s.Create(ctx, "new", 1, 10)
		}), insert, []string{"CREATE ON TABLE leaf_alloc"}},
		"Leaser": {start(func(db *gorm.DB) uid.WorkerSource {
			return worker.NewLeaser(db, lease.Config{Logger: quiet})
		}), worker.NewStore(nil, worker.StoreConfig{}).Grants(), []string{"CREATE ON TABLE WORKER_LEASE", "CREATE ON TABLE WORKER_NODE"}},
		"Registry": {start(func(db *gorm.DB) uid.WorkerSource {
			return worker.NewRegistry(db, worker.RegistryConfig{Logger: quiet})
		}), worker.NewRegistry(nil, worker.RegistryConfig{}).Grants(), []string{"CREATE ON TABLE WORKER_NODE"}},
	}
}

// A user who lacks a right is told which one: whoever grants what each error asks for, and nothing else, gets there.
func TestErrorsNameTheGrants(t *testing.T) {
	for _, kind := range []string{"mysql", "postgres"} {
		for name, c := range grantedCalls() {
			t.Run(kind+"/"+name, func(t *testing.T) {
				user := newRestricted(t, kind)
				counters := segmentsql.NewLeafAlloc(user.owner, segmentsql.Config{Logger: quiet})
				need.Must(t, counters.Create(t.Context(), "orders", 1, 10))
				need.Must(t, counters.CreateGapless(t.Context(), "invoices", 1))
				need.Must(t, worker.NewStore(user.owner, worker.StoreConfig{}).EnsureSchema(t.Context()))
				need.Must(t, user.owner.Exec("CREATE TABLE bills (id BIGINT PRIMARY KEY)").Error)
				if kind == "mysql" {
					user.grant(t, "REFERENCES ON "+user.name+".*") // so that the user may connect
				}
				asks(t, user, c, c.needs)
			})
			if c.creates == nil {
				continue
			}
			t.Run(kind+"/"+name+", without tables", func(t *testing.T) {
				user := newRestricted(t, kind)
				if kind == "postgres" {
					asks(t, user, c, []string{"CREATE ON SCHEMA " + user.name}) // who makes a table has all rights on it
					return
				}
				user.grant(t, "SELECT, INSERT, UPDATE ON "+user.name+".*") // MySQL grants these on a table only if it is there
				asks(t, user, c, c.creates)
			})
		}
	}
}

var inError = regexp.MustCompile(`GRANT (.*?)(?: and|: uidring schema)`)

// asks grants what the errors of a call ask for until there is none, and compares it with what was to be asked for.
func asks(t *testing.T, user restricted, c granted, want []string) {
	t.Helper()
	var got []string
	for {
		err := c.call(t.Context(), user.open(t))
		if err == nil {
			break
		}
		asked := inError.FindAllStringSubmatch(err.Error(), -1)
		for _, a := range asked {
			user.grant(t, a[1])
			got = append(got, a[1])
		}
		if asked == nil || len(got) > 10 {
			t.Fatalf("%v, after %q", err, got)
		}
	}
	slices.Sort(got)
	if want = slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
		t.Errorf("the errors asked for %q, want %q", got, want)
	}
}
