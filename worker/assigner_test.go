package worker_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
)

// assigner is one under test.
type assigner struct {
	name  string
	table string // without a prefix
	key   string // the column that holds numbers
}

// subject is what all assigners can do.
type subject interface {
	uid.WorkerSource
	EnsureSchema(context.Context) error
	Schema() (string, error)
}

var (
	registry = assigner{"registry", "WORKER_NODE", "id"}
	leaser   = assigner{"leaser", "WORKER_LEASE", "worker_id"}

	registries = []assigner{registry}
	leasers    = []assigner{leaser}

	// tables has one assigner for each kind of table.
	tables = []assigner{registry, leaser}
)

// option is a worker.StoreConfig or a lease.Config. Each assigner takes the fields that it
// has. Fields that are set replace those of earlier options.
type option any

func logTo(l *slog.Logger) option { return lease.Config{Logger: l} }

var (
	silent = slog.New(slog.DiscardHandler)
	quiet  = logTo(silent)

	// quickly has a Leaser look at its row often.
	quickly = lease.Config{Expiry: 100 * time.Millisecond}
)

func (s *store) configs(opts []option) (table worker.StoreConfig, config lease.Config) {
	table, config = worker.StoreConfig{Prefix: s.prefix}, lease.Config{Node: node}
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

// on returns the assigner under test on db.
func (s *store) on(db *gorm.DB, opts ...option) subject {
	if s.assigner == registry {
		return s.registry(db, opts...)
	}
	return s.leaser(db, opts...)
}

func (s *store) registry(db *gorm.DB, opts ...option) *worker.Registry {
	table, config := s.configs(opts)
	return worker.NewRegistry(db, worker.RegistryConfig{
		Prefix: table.Prefix, NoSchema: table.NoSchema, Node: config.Node, Logger: config.Logger,
	})
}

// leaserOn is a Leaser and its store.
type leaserOn struct {
	*lease.Leaser
	*worker.Store
}

func (s *store) leaser(db *gorm.DB, opts ...option) leaserOn {
	table, config := s.configs(opts)
	store := worker.NewStore(db, table)
	return leaserOn{lease.New(store, config), store}
}

// take has a take a number, which is held until the test ends; the rest of its
// time is not given back.
func take(t *testing.T, ctx context.Context, a uid.WorkerSource, limit int64) (int64, error) {
	t.Helper()
	h, err := holdertest.Try(ctx, t, a, limit, time.Now)
	return h.Last().Number, err
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

// The kinds of sources of numbers. The first three draw, and the other two choose.
const (
	aRegistry = "Registry"
	aLeaser   = "Leaser"
	aForeign  = "another language's Registry"
	aRange    = "range"
	anOrdinal = "Assigner"
)

// kind returns a source of a kind on the tables of s.
func (s *store) kind(name string, db *gorm.DB, more ...option) uid.WorkerSource {
	opts := append([]option{quiet}, more...)
	switch name {
	case aRegistry:
		return s.registry(db, opts...)
	case aForeign:
		return foreign{db, s.prefix + "WORKER_NODE"}
	case aRange:
		opts = append(opts, lease.Config{Numbers: &lease.Range{From: 1, To: 9}})
	case anOrdinal:
		opts = append(opts, lease.Config{Assigner: lease.NewStatic(1)})
	}
	return s.leaser(db, opts...)
}

// chooses reports whether a kind chooses its numbers.
func chooses(kind string) bool { return kind == aRange || kind == anOrdinal }

// foreign is a Registry in another language. It inserts rows as uid-generator does, and reads nothing.
type foreign struct {
	db    *gorm.DB
	table string
}

const foreignInsert = " (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED) VALUES ('java', '1463725200000-7', 2, CURRENT_DATE, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP)"

func (f foreign) Lease(ctx context.Context, r lease.Request) (lease.Lease, error) {
	var key int64
	err := f.db.WithContext(ctx).Connection(func(tx *gorm.DB) error {
		switch f.db.Name() {
		case "postgres":
			return tx.Raw("INSERT INTO " + strings.ToLower(f.table) + foreignInsert + " RETURNING id").Scan(&key).Error
		case "mysql":
			return errors.Join(tx.Exec("INSERT INTO "+f.table+foreignInsert).Error, tx.Raw("SELECT LAST_INSERT_ID()").Scan(&key).Error)
		}
		return errors.Join(tx.Exec("INSERT INTO "+f.table+foreignInsert).Error, tx.Raw("SELECT LAST_INSERT_ROWID()").Scan(&key).Error)
	})
	if err != nil {
		return nil, err
	}
	return lease.NewPermanent(lease.NewStatic(key)).Lease(ctx, r)
}

// draw takes a number as another language's Registry does.
func (s *store) draw(t *testing.T) int64 {
	t.Helper()
	return assign(t, s.kind(aForeign, s.DB))
}

// wantKind fails unless a start is refused because the database's numbers are taken in another way.
func wantKind(t *testing.T, err error, divided bool) {
	t.Helper()
	var kind *worker.KindError
	if !errors.As(err, &kind) || !errors.Is(err, worker.ErrMixed) || kind.Divided != divided {
		t.Errorf("%v; want a KindError, divided %t", err, divided)
	}
}
