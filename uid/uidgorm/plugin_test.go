package uidgorm_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidgorm"
)

var (
	_ gorm.Plugin       = (*uidgorm.Plugin)(nil)
	_ uidgorm.Generator = (*uid.Cached)(nil)
	_ uidgorm.Generator = (*uid.Default)(nil)
)

func TestUse(t *testing.T) {
	s := newStore(t, "sqlite")
	if err := s.db.Use(uidgorm.New(s.gen, uidgorm.Config{})); !errors.Is(err, gorm.ErrRegistered) {
		t.Errorf("the second use: error %v, want %v", err, gorm.ErrRegistered)
	}
	if name := uidgorm.New(s.gen, uidgorm.Config{}).Name(); name != "uidgorm" {
		t.Errorf("the name is %q", name)
	}
	fresh := s.Reopen(t, nil, gorm.Config{})
	wantAll(t, fresh.Use(uidgorm.New(nil, uidgorm.Config{})), "uidgorm: invalid config: gen is nil, want a generator")
	wantAll(t, fresh.Use(&uidgorm.Plugin{}), "Plugin is zero, want one of New")
	if len(fresh.Plugins) != 0 {
		t.Error("a plugin without a generator is in use")
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
		if err := db.Create(&Item{}).Error; !errors.Is(err, uid.ErrClosed) {
			t.Errorf("error %v, want %v", err, uid.ErrClosed)
		}
		gen.fill = nil
	}
	wantAsked(t, gen, 1, 1, 1, 1)
}

// A statement waits for ids only in a context that can end, and until then.
func TestContext(t *testing.T) {
	each(t, []any{&Item{}}, func(t *testing.T, s *store) {
		must(t, s.db.Create(&Item{Name: "a"}).Error)
		if s.gen.waits != 0 {
			t.Errorf("without a context: %d waits, want none", s.gen.waits)
		}
		ctx, cancel := context.WithCancel(context.Background())
		must(t, s.db.WithContext(ctx).Create(&Item{Name: "b"}).Error)
		if s.gen.waits != 1 {
			t.Errorf("with a context: %d waits, want 1", s.gen.waits)
		}
		s.gen.dry = true
		time.AfterFunc(time.Millisecond, cancel)
		err := s.db.WithContext(ctx).Create(&Item{Name: "c"}).Error
		if !errors.Is(err, context.Canceled) || !errors.Is(err, uidgorm.ErrGenerator) {
			t.Errorf("with a context that has ended: %v, want ErrGenerator and Canceled", err)
		}
		wantAsked(t, s.gen, 1, 1)
	})
}

// Real generators, from several goroutines, of which some are the first to create.
func TestConcurrent(t *testing.T) {
	ctx := context.Background()
	cached, err := uid.NewCached(ctx, uid.StaticWorker(7), uid.CachedConfig{})
	must(t, err)
	defer cached.Close()
	stamped, err := uid.NewDefault(ctx, uid.StaticWorker(8), uid.DefaultConfig{})
	must(t, err)
	defer stamped.Close()

	for name, gen := range map[string]uidgorm.Generator{"cached": cached, "default": stamped} {
		for _, kind := range dbtest.Kinds {
			t.Run(name+"/"+kind, func(t *testing.T) {
				s := newStore(t, kind, &Item{}, &Tagged{})
				db := s.with(t, gen, uidgorm.Config{})
				const goroutines, batch = 4, 25
				var all sync.WaitGroup
				for g := range goroutines {
					all.Go(func() {
						items := make([]Item, batch)
						for i := range items {
							items[i].Name = fmt.Sprint(g, " ", i)
						}
						if err := errors.Join(db.Create(&items).Error, db.Create(&Tagged{}).Error); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
				ids := append(s.keys(t, &Item{}, "id"), s.keys(t, &Tagged{}, "no")...)
				if len(ids) != goroutines*(batch+1) {
					t.Errorf("%d rows, want %d", len(ids), goroutines*(batch+1))
				}
				for _, id := range ids {
					if _, err := cached.Parse(id); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

type forTicket struct {
	ID   uid.ID
	Text string
	Tags []forTag `gorm:"foreignKey:TicketID"`
}

type forTag struct {
	ID       uid.ID
	TicketID uid.ID
}

// A model of For gets its keys from its own generator, others from the first: alone, in a
// batch, from a map and as an association.
func TestKeys(t *testing.T) {
	each(t, []any{&forTicket{}, &forTag{}}, func(t *testing.T, s *store) {
		tickets := &counter{next: 1}
		db := s.with(t, s.gen, uidgorm.Config{Keys: []uidgorm.Keys{{From: tickets, Models: []any{&forTicket{}}}}})
		must(t, db.Create(&forTicket{Tags: []forTag{{}, {}}}).Error)
		must(t, db.Create([]*forTicket{{}, {}}).Error)
		must(t, db.Model(&forTicket{}).Create(map[string]any{"text": "ink"}).Error)
		must(t, db.Create(&forTag{TicketID: 1}).Error)
		wantIDs(t, "tickets", s.keys(t, &forTicket{}, "id"), []uid.ID{1, 2, 3, 4})
		wantIDs(t, "tags", s.keys(t, &forTag{}, "id"), []uid.ID{first, first + 1, first + 2})
		wantAsked(t, tickets, 1, 2, 1)
		wantAsked(t, s.gen, 2, 1)
	})
}

// What Keys cannot name is an error of db.Use, all of it at once.
func TestKeysRefused(t *testing.T) {
	s := newStore(t, "sqlite")
	gen := &counter{next: 1}
	err := s.Reopen(t, nil, gorm.Config{}).Use(uidgorm.New(gen,
		uidgorm.Config{Keys: []uidgorm.Keys{{nil, []any{forTag{}}}, {gen, nil}, {gen, []any{"orders", nil}}, {gen, []any{&forTicket{}, forTicket{}}}}}))
	if !errors.Is(err, uidgorm.ErrConfig) {
		t.Errorf("%v does not match ErrConfig", err)
	}
	wantAll(t, err,
		"Keys[0].From is nil, want a generator",
		"Keys[1].Models is empty, want one model or more",
		"Keys[2].Models is string, want structs or pointers to structs",
		"Keys[2].Models is <nil>",
		"Keys[3].Models is uidgorm_test.forTicket, want each model once",
	)
}
