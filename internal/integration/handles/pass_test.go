package handles_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
	"github.com/uidring/uidring/uid/uidgorm"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

var quiet = slog.New(slog.DiscardHandler)

// app uses every store of the library on one handle, by the public constructors and the
// default tables.
type app struct {
	db     *gorm.DB
	keys   *uid.Cached // which the plugin draws from; it runs from the first pass to Close
	passes int64

	mu   sync.Mutex
	seen map[string]map[uid.ID]bool // ids, by what must not repeat them
}

// Order is a model of the app's.
type Order struct {
	ID   uid.ID `gorm:"column:id"`
	Name string `gorm:"column:name;size:64;uniqueIndex"`
}

// steps are what one pass does. Each starts anew on tables that are missing or there.
var steps = []struct {
	name string
	do   func(a *app, ctx context.Context) error
}{
	{"registry", func(a *app, ctx context.Context) error {
		return a.generate(ctx, worker.NewRegistry(a.db, worker.RegistryConfig{Logger: quiet}))
	}},
	{"leasers", func(a *app, ctx context.Context) error {
		var errs [3]error
		var starting sync.WaitGroup
		for i := range errs {
			starting.Go(func() { errs[i] = a.generate(ctx, worker.NewLeaser(a.db, lease.Config{Logger: quiet})) })
		}
		starting.Wait()
		return errors.Join(errs[:]...)
	}},
	{"leaf_alloc", func(a *app, ctx context.Context) error { return a.count(ctx, a.leafAlloc()) }},
	{"SEQUENCE", func(a *app, ctx context.Context) error {
		return a.count(ctx, segmentsql.NewSequence(a.db, segmentsql.Config{Logger: quiet}))
	}},
	{"gapless", (*app).gapless},
	{"plugin", (*app).orders},
}

// pass runs all steps, and returns how each ended.
func (a *app) pass(ctx context.Context) map[string]error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute) // for hundreds of commits, on a slow disk too
	defer cancel()
	ended := map[string]error{}
	for _, step := range steps {
		ended[step.name] = step.do(a, ctx)
	}
	a.passes++
	return ended
}

func (a *app) leafAlloc() *segmentsql.Store {
	return segmentsql.NewLeafAlloc(a.db, segmentsql.Config{Logger: quiet})
}

// see returns an error if one of the ids was seen before.
func (a *app) see(what string, ids []uid.ID) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.seen[what] == nil {
		a.seen[what] = map[uid.ID]bool{}
	}
	for _, id := range ids {
		if a.seen[what][id] {
			return fmt.Errorf("%s: %d repeats", what, id)
		}
		a.seen[what][id] = true
	}
	return nil
}

func (a *app) generate(ctx context.Context, source uid.WorkerSource) error {
	gen, err := uid.NewCached(ctx, source, uid.CachedConfig{Layout: layout, Logger: quiet})
	if err != nil {
		return err
	}
	ids := make([]uid.ID, 20)
	_, err = gen.WaitN(ctx, ids)
	return errors.Join(err, a.see("ids", ids), gen.Shutdown(ctx))
}

func (a *app) count(ctx context.Context, store segment.Store) error {
	gen, err := segment.New(ctx, store, "orders", segment.Config{Create: true, Logger: quiet})
	if err != nil {
		return err
	}
	ids := make([]uid.ID, 2500)
	_, err = gen.WaitN(ctx, ids)
	return errors.Join(err, a.see(fmt.Sprint(store), ids), gen.Shutdown(ctx))
}

// layout has ticks of a millisecond, so that the ring borrows little time, and each renewal shows.
var layout = bits.Snowflake()

// lastPass is on tables that were altered.
const lastPass = 2

var errRolledBack = errors.New("rolled back")

// gapless draws two numbers in each pass, and between them one whose transaction is rolled back.
func (a *app) gapless(ctx context.Context) error {
	counters := a.leafAlloc()
	if err := counters.CreateGapless(ctx, "invoices", 1); err != nil && !errors.Is(err, segment.ErrTagExists) {
		return err
	}
	for i, end := range []error{nil, errRolledBack, nil} {
		err := a.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
			number, err := counters.NextGapless(tx, "invoices")
			if want := 2*a.passes + 1 + int64(i+1)/2; err == nil && number != want {
				err = fmt.Errorf("gapless number %d, want %d", number, want)
			}
			return errors.Join(err, end)
		})
		if err != nil && !(end != nil && err.Error() == end.Error()) {
			return err
		}
	}
	return nil
}

// orders creates rows with the plugin.
func (a *app) orders(ctx context.Context) (err error) {
	db := a.db.WithContext(ctx)
	if a.keys == nil {
		if a.keys, err = uid.NewCached(ctx, worker.NewLeaser(a.db, lease.Config{Expiry: 400 * time.Millisecond, Logger: quiet}),
			uid.CachedConfig{Layout: layout, Logger: quiet}); err != nil {
			return err
		}
		if err := errors.Join(a.db.Use(uidgorm.New(a.keys, uidgorm.Config{})), db.AutoMigrate(&Order{})); err != nil {
			return err
		}
	}
	name := func(i int) string { return fmt.Sprint(a.passes, "-", i) }
	one, batch := Order{Name: name(0)}, []Order{{Name: name(1)}, {Name: name(2)}, {Name: name(3)}}
	again := Order{Name: name(0)}
	err = errors.Join(db.Create(&one).Error, db.Create(&batch).Error,
		db.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "name"}}, DoNothing: true}).Create(&again).Error)
	var rows []Order
	if err = errors.Join(err, db.Clauses(clause.Locking{Strength: "UPDATE"}).Order("id").Find(&rows).Error); err != nil {
		return err
	}
	if want := 4 * (a.passes + 1); int64(len(rows)) != want {
		return fmt.Errorf("%d orders, want %d", len(rows), want)
	}
	until := a.keys.Stats().Clock.ReservedUntil
	for s := a.keys.Stats().Clock; a.passes == lastPass && (!s.ReservedUntil.After(until) || s.LeaseError != nil); s = a.keys.Stats().Clock {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("the lease is not renewed: %w", s.LeaseError)
		}
	}
	return a.see("keys", []uid.ID{one.ID, batch[0].ID, batch[1].ID, batch[2].ID})
}

// close ends the generator that runs since the first pass.
func (a *app) close(ctx context.Context) error {
	if a.keys == nil {
		return nil
	}
	return a.keys.Shutdown(ctx)
}
