package uidgorm_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidgorm"
)

func TestUse(t *testing.T) {
	s := newStore(t, "sqlite")
	gen := s.gen
	wantError(t, s.db.Use(uidgorm.New(gen, uidgorm.Config{})), gorm.ErrRegistered)
	fresh := s.Reopen(t, nil, gorm.Config{})
	wantError(t, fresh.Use(uidgorm.New(nil, uidgorm.Config{})), uid.ErrConfig, "uidgorm: invalid config: gen is nil, want a generator")
	wantError(t, fresh.Use(&uidgorm.Plugin{}), uid.ErrConfig, "Plugin is zero, want one from New")
	keys := []uidgorm.Keys{{nil, []any{Line{}}}, {gen, nil}, {gen, []any{"orders", nil}}, {gen, []any{&Item{}, Item{}}}}
	wantError(t, fresh.Use(uidgorm.New(gen, uidgorm.Config{Keys: keys})), uid.ErrConfig,
		"Keys[0].From is nil, want a generator",
		"Keys[1].Models is empty, want one model or more",
		"Keys[2].Models is string, want structs or pointers to structs",
		"Keys[2].Models is <nil>",
		"Keys[3].Models is uidgorm_test.Item, want each model once",
	)
	if len(fresh.Plugins) != 0 {
		t.Error("a plugin that was refused is in use")
	}
}

// The plugin may be named when the database is opened, and serve several.
func TestConfig(t *testing.T) {
	gen := &counter{next: first}
	plugin := uidgorm.New(gen, uidgorm.Config{})
	for range 2 {
		s := dbtest.New(t, "sqlite")
		db := s.Reopen(t, nil, gorm.Config{Plugins: map[string]gorm.Plugin{plugin.Name(): plugin}, TranslateError: true})
		must(t, db.AutoMigrate(&Item{}))
		must(t, db.Create(&Item{}).Error)
		gen.fill = func([]uid.ID) (int, error) { return 0, uid.ErrClosed }
		wantError(t, db.Create(&Item{}).Error, uid.ErrClosed)
		gen.fill = nil
	}
	wantAsked(t, gen, 1, 1, 1, 1)
}

// A statement waits for ids only in a context that can end, and until then.
func TestContext(t *testing.T) {
	each(t, []any{&Item{}}, func(t *testing.T, s *store) {
		ctx, cancel := context.WithCancel(context.Background())
		for waits, ctx := range []context.Context{context.Background(), ctx} {
			must(t, s.db.WithContext(ctx).Create(&Item{Name: fmt.Sprint(waits)}).Error)
			if s.gen.waits != waits {
				t.Errorf("in %v: %d waits, want %d", ctx, s.gen.waits, waits)
			}
		}
		s.gen.dry = true
		time.AfterFunc(time.Millisecond, cancel)
		err := s.db.WithContext(ctx).Create(&Item{Name: "c"}).Error
		wantError(t, err, context.Canceled)
		wantError(t, err, uidgorm.ErrGenerator)
		wantAsked(t, s.gen, 1, 1)
	})
}

// Several goroutines create rows at once, some of them for the first time.
func TestConcurrent(t *testing.T) {
	each(t, []any{&Item{}, &Tagged{}}, func(t *testing.T, s *store) {
		db := s.with(t, s.gen, uidgorm.Config{}) // which has seen no model
		var all sync.WaitGroup
		for g := range 4 {
			all.Go(func() {
				items := named(25)
				for i := range items {
					items[i].Name += fmt.Sprint(" of ", g)
				}
				if err := errors.Join(db.Create(&items).Error, db.Create(&Tagged{}).Error); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		ids := append(s.keys(t, &Item{}, "id"), s.keys(t, &Tagged{}, "no")...)
		slices.Sort(ids)
		wantIDs(t, "keys", ids, s.gen.dealt())
	})
}

// A model of Keys gets its keys from its own generator, others from the first: alone, in a
// batch, from a map and as an association.
func TestKeys(t *testing.T) {
	each(t, []any{&Item{}, &Line{}}, func(t *testing.T, s *store) {
		tickets := &counter{next: 1}
		db := s.with(t, s.gen, uidgorm.Config{Keys: []uidgorm.Keys{{From: tickets, Models: []any{&Item{}}}}})
		must(t, db.Create([]*Line{{Item: Item{Name: "a"}}, {Item: Item{Name: "b"}}}).Error)
		must(t, db.Create(&Item{Name: "c"}).Error)
		must(t, db.Model(&Item{}).Create(map[string]any{"name": "d"}).Error)
		must(t, db.Create(&Line{ItemID: 1}).Error)
		wantIDs(t, "items", s.keys(t, &Item{}, "id"), []uid.ID{1, 2, 3, 4})
		wantIDs(t, "lines", s.keys(t, &Line{}, "id"), []uid.ID{first, first + 1, first + 2})
		wantAsked(t, tickets, 2, 1, 1)
		wantAsked(t, s.gen, 2, 1)
	})
}
