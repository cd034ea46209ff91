package uidgorm

import (
	"errors"
	"fmt"
	"sync"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/uidring/uidring/uid"
)

var (
	// ErrModel is matched when a model cannot have its key filled as it is
	// declared, whatever is created.
	ErrModel = errors.New("uidgorm: bad key")

	// ErrValue is matched when what is to be created cannot take a key, or would
	// be written without one.
	ErrValue = errors.New("uidgorm: key cannot be filled")

	// ErrGenerator is matched when the generator gave no id, or not enough. Its
	// own error is matched too.
	ErrGenerator = errors.New("uidgorm: no id")
)

// Generator is what keys come from. [*uid.Cached] and [*uid.Default] are such.
type Generator interface {
	// NextN fills ids with ids above 0 that it never gave before, and returns how
	// many: all of them, or fewer with an error. It may be called by several
	// goroutines at once.
	NextN(ids []uid.ID) (int, error)
}

// Plugin fills the zero primary keys of models that opt in. Make one with [New],
// hand it to db.Use, and leave it: it may serve any number of handles and
// goroutines. The zero value is refused by db.Use.
type Plugin struct {
	gen  Generator
	keys sync.Map // found, by *schema.Schema; written by the first create of a model, read by all
}

// New returns a plugin that takes keys from gen. The generator remains the
// caller's, who closes it when no handle that uses the plugin is in use any more.
func New(gen Generator) *Plugin { return &Plugin{gen: gen} }

// Name returns "uidgorm", under which GORM knows the plugin.
func (*Plugin) Name() string { return "uidgorm" }

// Initialize is called by db.Use, once for a handle and all its sessions.
func (p *Plugin) Initialize(db *gorm.DB) error {
	if p.gen == nil {
		return errors.New("uidgorm: New: gen is nil, want a generator such as *uid.Cached")
	}
	create := db.Callback().Create()
	return errors.Join(
		// Ahead of the statement's transaction, so that none is held open while the
		// generator waits, and ahead of hooks, which then find the key.
		create.Before("*").Register("uidgorm:fill", p.fill),
		// After hooks, which may have taken a key away.
		create.Before("gorm:create").Register("uidgorm:refill", p.refill),
		// Ahead of what refers to the row: has one, has many and many to many.
		create.After("gorm:create").Before("gorm:save_after_associations").Register("uidgorm:settle", p.settle),
	)
}

// found is what is known of a model: its key, nil if it has not opted in, or
// what is wrong with it.
type found struct {
	key *key
	err error
}

func (p *Plugin) find(s *schema.Schema) (*key, error) {
	known, ok := p.keys.Load(s)
	if !ok {
		k, err := findKey(s)
		known, _ = p.keys.LoadOrStore(s, found{k, err})
	}
	return known.(found).key, known.(found).err
}

// fill gives a key to every row that has none. What has no model has not opted
// in.
func (p *Plugin) fill(db *gorm.DB) {
	if db.Error != nil || db.Statement.Schema == nil {
		return
	}
	k, err := p.find(db.Statement.Schema)
	if err == nil && k != nil {
		err = p.deal(db.Statement, k)
	}
	if err != nil {
		_ = db.AddError(err)
	}
}

func (p *Plugin) refill(db *gorm.DB) {
	p.fill(db)
	if db.Error == nil {
		askForKeys(db.Statement)
	}
}

// deal takes all the keys that a statement wants with one call to the generator.
// On an error no row has been touched.
func (p *Plugin) deal(stmt *gorm.Statement, k *key) error {
	if err := k.include(stmt); err != nil {
		return err
	}
	slots, err := k.slots(stmt)
	if err != nil || len(slots) == 0 {
		return err
	}
	ids := make([]uid.ID, len(slots))
	n, err := p.gen.NextN(ids)
	if err == nil && n != len(ids) {
		err = errors.New("and no error")
	}
	if err != nil {
		return fmt.Errorf("%w for %s: got %d of %d: %w", ErrGenerator, k, n, len(ids), err)
	}
	for _, id := range ids {
		if id <= 0 {
			return fmt.Errorf("%w for %s: got %d, want it above 0", ErrGenerator, k, id)
		}
	}
	for i, s := range slots {
		s.put(stmt.Context, ids[i])
	}
	remember(stmt, slots)
	return nil
}
