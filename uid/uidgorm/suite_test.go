package uidgorm_test

import (
	"context"
	"log"
	"regexp"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidgorm"
)

var must, wantError = need.Must, need.Error

func TestMain(m *testing.M) {
	// GORM never ends the goroutine that it starts for PrepareStmt.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("gorm.io/gorm/internal/lru.NewLRU[...].func1"))
}

// first is far from any number that a database would choose.
const first = uid.ID(1) << 61

// counter deals numbers in order and remembers how many it was asked for.
type counter struct {
	mu    sync.Mutex
	next  uid.ID
	asked []int
	waits int // calls of WaitN that got ids
	dry   bool
	fill  func(ids []uid.ID) (int, error) // in place of dealing, if not nil
}

func (c *counter) NextN(ids []uid.ID) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, len(ids))
	if c.fill != nil {
		return c.fill(ids)
	}
	for i := range ids {
		ids[i] = c.next
		c.next++
	}
	return len(ids), nil
}

// WaitN is NextN. While the counter is dry it waits for ctx to end.
func (c *counter) WaitN(ctx context.Context, ids []uid.ID) (int, error) {
	if c.dry {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	c.waits++
	return c.NextN(ids)
}

// reset begins anew.
func (c *counter) reset() { *c = counter{next: first} }

// dealt returns all ids so far.
func (c *counter) dealt() []uid.ID {
	ids := []uid.ID{}
	for id := first; id < c.next; id++ {
		ids = append(ids, id)
	}
	return ids
}

// store is a database with the plugin, in which models have tables of the test's
// own.
type store struct {
	*dbtest.Store
	db  *gorm.DB
	gen *counter
	log *logged.Text // has the SQL that was sent
}

// each runs a test on every kind of database, with tables for the models.
func each(t *testing.T, models []any, test func(t *testing.T, s *store)) {
	t.Helper()
	for _, kind := range dbtest.Kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t, kind, models...))
		})
	}
}

func newStore(t *testing.T, kind string, models ...any) *store {
	t.Helper()
	s := &store{Store: dbtest.New(t, kind), gen: &counter{next: first}, log: new(logged.Text)}
	s.db = s.with(t, s.gen, uidgorm.Config{})
	if len(models) > 0 {
		must(t, s.db.SetupJoinTable(&User{}, "Clubs", &UserClub{}))
		t.Cleanup(func() {
			// GORM leaves join tables out.
			must(t, s.db.Migrator().DropTable(s.Table+"_user_languages", s.Table+"_user_clubs"))
			must(t, s.db.Migrator().DropTable(models...))
		})
		must(t, s.db.AutoMigrate(models...))
	}
	return s
}

// with returns another handle on the store's tables, with a plugin of its own.
func (s *store) with(t *testing.T, gen uidgorm.KeySource, config uidgorm.Config) *gorm.DB {
	t.Helper()
	names := schema.NamingStrategy{TablePrefix: s.Table + "_", IdentifierMaxLength: 63}
	db := s.Reopen(t, nil, gorm.Config{NamingStrategy: names, Logger: logger.New(log.New(s.log, "", 0), logger.Config{LogLevel: logger.Info})})
	must(t, db.Use(uidgorm.New(gen, config)))
	return db
}

// schema returns what GORM knows of a model.
func (s *store) schema(t *testing.T, model any) *schema.Schema {
	t.Helper()
	stmt := gorm.Statement{DB: s.db}
	must(t, stmt.Parse(model))
	return stmt.Schema
}

// keys returns a column of a model's table, in ascending order.
func (s *store) keys(t *testing.T, model any, column string) []uid.ID {
	t.Helper()
	ids := []uid.ID{}
	must(t, s.db.Model(model).Order(column).Pluck(column, &ids).Error)
	return ids
}

// empty removes all rows of models, and has the generator begin anew.
func (s *store) empty(t *testing.T, models ...any) {
	t.Helper()
	for _, model := range models {
		must(t, s.db.Session(&gorm.Session{AllowGlobalUpdate: true}).Delete(model).Error)
	}
	s.gen.reset()
}

func wantIDs(t *testing.T, what string, got, want []uid.ID) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func wantAsked(t *testing.T, gen *counter, want ...int) {
	t.Helper()
	if !slices.Equal(gen.asked, want) {
		t.Errorf("the generator was asked for %v ids, want %v", gen.asked, want)
	}
}

// count returns how many rows the query of db finds.
func count(t *testing.T, db *gorm.DB) (n int64) {
	t.Helper()
	must(t, db.Count(&n).Error)
	return n
}

// wantUnsent checks that no statement that was logged begins with a pattern.
func wantUnsent(t *testing.T, log *logged.Text, pattern string) {
	t.Helper()
	if sent := regexp.MustCompile(`(?im)^\[\S+ms\] \[rows:\S+\] (` + pattern + `).*`).FindString(log.String()); sent != "" {
		t.Errorf("sent %q", sent)
	}
}
