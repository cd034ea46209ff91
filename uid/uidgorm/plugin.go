package uidgorm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/uid"
)

var (
	// ErrKey means that a key cannot be filled: the model declares it incorrectly, the value passed
	// to Create cannot take it, or GORM would write the value without it.
	ErrKey = errors.New("uidgorm: key cannot be filled")

	// ErrConflict means that the database kept an existing row instead of a new one. Related rows
	// would have to refer to the key of the existing row, which cannot be found.
	ErrConflict = errors.New("uidgorm: key of the row that was kept is unknown")

	// ErrGenerator means that the generator returned fewer ids than requested. The statement's rows
	// then keep their old keys. The error also matches the generator's own error.
	ErrGenerator = errors.New("uidgorm: no id")
)

// KeySource provides the keys. Every [uid.Generator] is a KeySource.
type KeySource interface {
	// NextN fills ids with positive ids that it has never returned before, and returns how many it
	// filled. If it fills only some of them, it returns an error. It is safe for concurrent use.
	NextN(ids []uid.ID) (int, error)

	// WaitN is like NextN, but waits for ids until ctx is done.
	WaitN(ctx context.Context, ids []uid.ID) (int, error)
}

// Plugin fills the zero primary keys of models that opt in. Make one with [New] and pass it to
// db.Use, once for each handle. A Plugin may serve any number of handles and goroutines. db.Use
// rejects the zero value.
type Plugin struct {
	gen    KeySource
	of     map[reflect.Type]KeySource
	faults error
	keys   sync.Map // found, by *schema.Schema; written by the first create of a model, read by all
}

// Config configures a [Plugin]. The zero Config is the default.
type Config struct {
	// Keys assigns other generators to some models. Put all Keys in one Config: a second db.Use of
	// any Plugin on a handle fails with gorm.ErrRegistered.
	Keys []Keys
}

// Keys assigns a [KeySource] to some models, in place of the one passed to [New].
type Keys struct {
	From   KeySource // the caller closes it, as with New
	Models []any     // structs or pointers to structs, such as &Order{}
}

var errZero = invalid.Of("uidgorm").Add("Plugin", "zero", "one from New").Err()

// Validate reports every invalid field in one error, which matches [uid.ErrConfig].
func (c Config) Validate() error {
	_, faults := c.prepare()
	return faults.Err()
}

// prepare returns the generators of models that have their own, and the faults.
func (c Config) prepare() (map[reflect.Type]KeySource, *invalid.List) {
	of, faults := map[reflect.Type]KeySource{}, invalid.Of("uidgorm")
	for i, keys := range c.Keys {
		at := fmt.Sprintf("Keys[%d]", i)
		if keys.From == nil {
			faults.Add(at+".From", "nil", "a generator such as *uid.Cached")
		}
		if len(keys.Models) == 0 {
			faults.Add(at+".Models", "empty", "one model or more")
		}
		for _, model := range keys.Models {
			t := reflect.TypeOf(model)
			for t != nil && t.Kind() == reflect.Pointer {
				t = t.Elem()
			}
			switch {
			case t == nil || t.Kind() != reflect.Struct:
				faults.Add(at+".Models", fmt.Sprintf("%T", model), "structs or pointers to structs, such as &Order{}")
			case of[t] != nil:
				faults.Add(at+".Models", t, "each model once: it has two generators")
			default:
				of[t] = keys.From
			}
		}
	}
	return of, faults
}

// New returns a plugin that takes keys from gen, unless [Config] names another source. The caller
// closes gen, after the last use of a handle with the plugin. db.Use returns an error that matches
// [uid.ErrConfig] if gen or config is invalid.
func New(gen KeySource, config Config) *Plugin {
	of, faults := config.prepare()
	if gen == nil {
		faults.Add("gen", "nil", "a generator such as *uid.Cached")
	}
	return &Plugin{gen: gen, of: of, faults: faults.Err()}
}

// Name returns "uidgorm", the name under which GORM registers the plugin.
func (*Plugin) Name() string { return "uidgorm" }

// Initialize registers the callbacks. On SQLite, it wraps the handle's Dialector. db.Use calls
// it once for each handle.
func (p *Plugin) Initialize(db *gorm.DB) error {
	if p.faults != nil || p.gen == nil {
		return cmp.Or(p.faults, errZero)
	}
	if db.Name() == "sqlite" {
		db.Dialector = sqliteDialector{db.Dialector, p}
	}
	create := db.Callback().Create()
	return errors.Join(
		// Before the statement's transaction, so that no transaction stays open while
		// the generator waits, and before hooks, so that they see the key.
		create.Before("*").Register("uidgorm:fill", p.fill),
		// After hooks, which may have taken a key away.
		create.Before("gorm:create").Register("uidgorm:refill", p.refill),
		// Ahead of what refers to the row: has one, has many and many to many.
		create.After("gorm:create").Before("gorm:save_after_associations").Register("uidgorm:settle", p.settle),
	)
}

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

// fill gives a key to every row that has none. Without a model there is no key.
func (p *Plugin) fill(db *gorm.DB) {
	if db.Error != nil || db.Statement.Schema == nil {
		return
	}
	k, err := p.find(db.Statement.Schema)
	if err == nil && k != nil {
		leaveOutTwins(db.Statement)
		err = p.deal(db.Statement, k, begin(db.Statement, k))
	}
	if err != nil {
		_ = db.AddError(err)
	}
}

func (p *Plugin) refill(db *gorm.DB) {
	p.fill(db)
	if c := begun(db.Statement); c != nil && db.Error == nil {
		c.prepare(db.Statement)
	}
}

// deal takes all keys of a statement with one call of the generator. If deal returns an
// error, no row has changed.
func (p *Plugin) deal(stmt *gorm.Statement, k *key, c *creation) error {
	if err := k.include(stmt); err != nil {
		return err
	}
	slots, err := k.slots(stmt)
	if err != nil || len(slots) == 0 {
		return err
	}
	ids := make([]uid.ID, len(slots))
	n, err := p.take(stmt.Context, k.schema.ModelType, ids)
	if err == nil && n != len(ids) {
		err = errors.New("the generator returned no error")
	}
	if err != nil {
		return fmt.Errorf("%w for %s: got %d of %d: %w", ErrGenerator, k, n, len(ids), err)
	}
	for _, id := range ids {
		if id <= 0 {
			return fmt.Errorf("%w for %s: got %d, want more than 0", ErrGenerator, k, id)
		}
	}
	for i := range slots {
		slots[i].put(stmt.Context, ids[i])
	}
	c.slots = append(c.slots, slots...)
	return nil
}

// take fills ids from the model's generator. It waits only if ctx can end: otherwise a statement
// could wait forever.
func (p *Plugin) take(ctx context.Context, model reflect.Type, ids []uid.ID) (int, error) {
	gen := cmp.Or(p.of[model], p.gen)
	if ctx.Done() == nil {
		return gen.NextN(ids)
	}
	return gen.WaitN(ctx, ids)
}
