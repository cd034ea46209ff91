package entschema_test

import (
	"context"
	"errors"
	"testing"

	"entgo.io/ent"

	"github.com/uidring/uidring/internal/examples/entschema"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidtest"
)

// TestFields: ent finds no fault with the fields.
func TestFields(t *testing.T) {
	for _, f := range append(entschema.ID{}.Fields(), entschema.Order{}.Fields()...) {
		if d := f.Descriptor(); d.Err != nil {
			t.Errorf("%s: %v", d.Name, d.Err)
		}
	}
}

// mutation is as much of a mutation as the hook looks at.
type mutation struct {
	ent.Mutation
	op  ent.Op
	id  uid.ID
	set bool
}

func (m *mutation) Op() ent.Op         { return m.op }
func (m *mutation) Type() string       { return "Order" }
func (m *mutation) ID() (uid.ID, bool) { return m.id, m.set }
func (m *mutation) SetID(id uid.ID)    { m.id, m.set = id, true }

func TestHook(t *testing.T) {
	gen := uidtest.NewSequence(t, 1000)
	entschema.IDs = gen
	saved := 0
	save := entschema.ID{}.Hooks()[0](ent.MutateFunc(func(context.Context, ent.Mutation) (ent.Value, error) {
		saved++
		return nil, nil
	}))

	create, set, update := &mutation{op: ent.OpCreate}, &mutation{op: ent.OpCreate, id: 5, set: true}, &mutation{op: ent.OpUpdateOne}
	for _, m := range []*mutation{create, set, update} {
		if _, err := save.Mutate(t.Context(), m); err != nil {
			t.Error(err)
		}
	}
	if create.id == 0 || set.id != 5 || update.set || saved != 3 {
		t.Errorf("ids are %d, %d and %d after %d rows", create.id, set.id, update.id, saved)
	}

	need.Must(t, gen.Close())
	if _, err := save.Mutate(t.Context(), &mutation{op: ent.OpCreate}); !errors.Is(err, uid.ErrClosed) || saved != 3 {
		t.Errorf("without a generator: error %v after %d rows, want %v after 3", err, saved, uid.ErrClosed)
	}
}
