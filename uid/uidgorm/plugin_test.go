package uidgorm_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/dbtest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidgorm"
)

var (
	_ gorm.Plugin       = (*uidgorm.Plugin)(nil)
	_ uidgorm.Generator = (*uid.Cached)(nil)
	_ uidgorm.Generator = (*uid.Default)(nil)
)

func TestUse(t *testing.T) {
	s := newStore(t, "sqlite", gorm.Config{})
	if err := s.db.Use(uidgorm.New(s.gen)); !errors.Is(err, gorm.ErrRegistered) {
		t.Errorf("the second use: error %v, want %v", err, gorm.ErrRegistered)
	}
	if name := uidgorm.New(s.gen).Name(); name != "uidgorm" {
		t.Errorf("the name is %q", name)
	}
	fresh := s.Reopen(t, nil, gorm.Config{})
	wantAll(t, fresh.Use(uidgorm.New(nil)), "uidgorm: New: gen is nil, want a generator")
	wantAll(t, fresh.Use(&uidgorm.Plugin{}), "gen is nil")
	if len(fresh.Plugins) != 0 {
		t.Error("a plugin without a generator is in use")
	}
}

// The plugin may be named when the database is opened, and serve several.
func TestConfig(t *testing.T) {
	gen := &counter{next: first}
	plugin := uidgorm.New(gen)
	for range 2 {
		s := dbtest.New(t, "sqlite")
		db := s.Reopen(t, nil, gorm.Config{Plugins: map[string]gorm.Plugin{plugin.Name(): plugin}, TranslateError: true})
		must(t, db.AutoMigrate(&Item{}))
		must(t, db.Create(&Item{}).Error)
		gen.fill = func([]uid.ID) (int, error) { return 0, uid.ErrClosed }
		if err := db.Create(&Item{}).Error; !errors.Is(err, uid.ErrClosed) {
			t.Errorf("error %v, want %v", err, uid.ErrClosed)
		}
		gen.fill = nil
	}
	wantAsked(t, gen, 1, 1, 1, 1)
}

// Real generators, from several goroutines, of which some are the first to create.
func TestConcurrent(t *testing.T) {
	ctx := context.Background()
	cached, err := uid.NewCached(ctx, uid.StaticWorker(7), uid.Config{})
	must(t, err)
	defer cached.Close()
	stamped, err := uid.NewDefault(ctx, uid.StaticWorker(8), uid.Config{})
	must(t, err)
	defer stamped.Close()

	for name, gen := range map[string]uidgorm.Generator{"cached": cached, "default": stamped} {
		for _, kind := range dbtest.Kinds {
			t.Run(name+"/"+kind, func(t *testing.T) {
				s := newStore(t, kind, gorm.Config{}, &Item{}, &Tagged{})
				db := s.Reopen(t, nil, gorm.Config{NamingStrategy: s.db.NamingStrategy})
				must(t, db.Use(uidgorm.New(gen)))
				const goroutines, batch = 4, 25
				var all sync.WaitGroup
				for g := range goroutines {
					all.Go(func() {
						items := make([]Item, batch)
						for i := range items {
							items[i].Name = fmt.Sprint(g, " ", i)
						}
						if err := errors.Join(db.Create(&items).Error, db.Create(&Tagged{}).Error,
							db.Create(&Tagged{}).Error); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
				ids := append(s.keys(t, &Item{}, "id"), s.keys(t, &Tagged{}, "no")...)
				if len(ids) != goroutines*(batch+2) {
					t.Errorf("%d rows, want %d", len(ids), goroutines*(batch+2))
				}
				for _, id := range ids {
					if _, err := cached.Parse(id); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}

	s := newStore(t, "sqlite", gorm.Config{}, &Item{})
	db := s.Reopen(t, nil, gorm.Config{NamingStrategy: s.db.NamingStrategy})
	must(t, db.Use(uidgorm.New(cached)))
	must(t, cached.Close())
	if err := db.Create(&Item{}).Error; !errors.Is(err, uid.ErrClosed) {
		t.Errorf("error %v, want %v", err, uid.ErrClosed)
	}
}
