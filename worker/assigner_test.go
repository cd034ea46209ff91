package worker_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
)

// Every assigner is what package uid asks for.
var (
	_ uid.WorkerSource = (*worker.Registry)(nil)
	_ uid.WorkerSource = (*lease.Leaser)(nil)
	_ uid.WorkerSource = lease.NewStatefulSet()
)

// assigner is one under test.
type assigner struct {
	name  string
	table string // without a prefix
	key   string // the column that holds numbers
	doing string // how errors of a start begin
	open  func(db *gorm.DB, opts []option) subject
}

// subject is what all assigners can do.
type subject interface {
	uid.WorkerSource
	EnsureSchema(context.Context) error
}

var (
	registry = assigner{"registry", "WORKER_NODE", "id", "worker: register in ", func(db *gorm.DB, opts []option) subject { return newRegistry(db, opts) }}
	leaser   = assigner{"leaser", "WORKER_LEASE", "worker_id", "lease: take a number from ", func(db *gorm.DB, opts []option) subject { return newLeaser(db, opts) }}

	// first is the first number that any of them takes.
	first int64 = 1

	registries = []assigner{registry}
	leasers    = []assigner{leaser}

	// tables has one assigner for each kind of table.
	tables = []assigner{registry, leaser}
)

// option is a worker.StoreConfig or a lease.Config, of which each assigner takes the fields
// that it has. Fields that are set replace those of options before.
type option any

func logTo(l *slog.Logger) option { return lease.Config{Logger: l} }

var (
	silent = slog.New(slog.DiscardHandler)
	quiet  = logTo(silent)
)

func configs(opts []option) (table worker.StoreConfig, config lease.Config) {
	for _, opt := range opts {
		switch opt := opt.(type) {
		case worker.StoreConfig:
			table = holdertest.Merge(table, opt)
		case lease.Config:
			config = holdertest.Merge(config, opt)
		default:
			panic(opt)
		}
	}
	return table, config
}

func newRegistry(db *gorm.DB, opts []option) *worker.Registry {
	table, config := configs(opts)
	return worker.NewRegistry(db, worker.RegistryConfig{
		Prefix: table.Prefix, NoSchema: table.NoSchema, Node: config.Node, Logger: config.Logger,
	})
}

// leaserOn is a Leaser and its store.
type leaserOn struct {
	*lease.Leaser
	*worker.Store
}

func newLeaser(db *gorm.DB, opts []option) leaserOn {
	table, config := configs(opts)
	s := worker.NewStore(db, table)
	return leaserOn{lease.New(s, config), s}
}

func (s *store) options(opts []option) []option {
	return append([]option{worker.StoreConfig{Prefix: s.prefix}, lease.Config{Node: node}}, opts...)
}

// on returns the assigner under test on db.
func (s *store) on(db *gorm.DB, opts ...option) subject { return s.open(db, s.options(opts)) }

func (s *store) registry(db *gorm.DB, opts ...option) *worker.Registry {
	return newRegistry(db, s.options(opts))
}

func (s *store) leaser(db *gorm.DB, opts ...option) leaserOn { return newLeaser(db, s.options(opts)) }

// take has a take a number, which is held until the test ends; the rest of its
// time is not given back.
func take(t *testing.T, ctx context.Context, a uid.WorkerSource, limit int64) (int64, error) {
	t.Helper()
	h, err := holdertest.Try(ctx, t, a, limit, time.Now)
	if err != nil {
		return 0, err
	}
	return h.Last().Number, nil
}

// assign is take where it must succeed.
func assign(t *testing.T, a uid.WorkerSource) int64 {
	t.Helper()
	number, err := take(t, context.Background(), a, max22)
	need.Must(t, err)
	return number
}

// try is holdertest.Take where that may fail.
func try(t *testing.T, a uid.WorkerSource, limit int64) (*holdertest.Holder, error) {
	return holdertest.Try(context.Background(), t, a, limit, time.Now)
}

// release gives a number back, which must succeed.
func release(t *testing.T, h *holdertest.Holder, next time.Time) {
	t.Helper()
	need.Must(t, h.Release(context.Background(), next))
}

// small has four ids for each second: a window of minutes is used up quickly.
var small = bits.Layout{TimeBits: 31, WorkerBits: 6, SequenceBits: 2, Epoch: time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC), Unit: time.Second}

// cached returns a generator of the layout small.
func cached(t *testing.T, a uid.WorkerSource) *uid.Cached {
	t.Helper()
	gen, err := uid.NewCached(context.Background(), a, uid.CachedConfig{Layout: small})
	need.Must(t, err)
	t.Cleanup(func() { gen.Close() })
	return gen
}

// ids keeps the ids of several generators, and tells repeats.
type ids map[uid.ID]bool

// draw takes n ids, each above the last, or as many as there are. Each is new.
func (i *ids) draw(t *testing.T, gen *uid.Cached, n int) (last uid.ID, err error) {
	t.Helper()
	if *i == nil {
		*i = ids{}
	}
	for range n {
		id, err := gen.Next()
		if err != nil {
			return last, err
		}
		if id <= last || (*i)[id] {
			t.Errorf("id %d after %d, dealt before: %t", id, last, (*i)[id])
		}
		(*i)[id], last = true, id
	}
	return last, nil
}
