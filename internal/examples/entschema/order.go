// Package entschema is an example of ids in a schema of ent: the folder that ent
// generates code from.
package entschema

import (
	"context"
	"fmt"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/mixin"

	"github.com/uidring/uidring/uid"
)

// IDs is the generator of new rows' ids. An app sets it once, before its first create.
var IDs interface{ Next() (uid.ID, error) }

// ID is a mixin that gives a schema an id of type uid.ID, made by [IDs]. It is a
// hook and no default, since ent's defaults are functions that cannot fail. An id
// that is set stays.
type ID struct{ mixin.Schema }

// Fields implements [ent.Mixin].
func (ID) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").
			GoType(uid.ID(0)).
			Immutable().
			Annotations(entsql.Annotation{Incremental: new(bool)}), // false: no AUTO_INCREMENT
	}
}

// Hooks implements [ent.Mixin].
func (ID) Hooks() []ent.Hook { return []ent.Hook{assign} }

// identified is what ent generates for the mutation of a schema with this mixin.
type identified interface {
	ID() (id uid.ID, exists bool)
	SetID(id uid.ID)
}

func assign(next ent.Mutator) ent.Mutator {
	return ent.MutateFunc(func(ctx context.Context, m ent.Mutation) (ent.Value, error) {
		if !m.Op().Is(ent.OpCreate) {
			return next.Mutate(ctx, m)
		}
		row, ok := m.(identified)
		if !ok {
			return nil, fmt.Errorf("entschema: %T has no id of type uid.ID", m)
		}
		if _, set := row.ID(); !set {
			id, err := IDs.Next()
			if err != nil {
				return nil, fmt.Errorf("entschema: id for %s: %w", m.Type(), err)
			}
			row.SetID(id)
		}
		return next.Mutate(ctx, m)
	})
}

// Order is a schema with ids from [IDs].
type Order struct{ ent.Schema }

// Mixin implements [ent.Interface].
func (Order) Mixin() []ent.Mixin { return []ent.Mixin{ID{}} }

// Fields implements [ent.Interface].
func (Order) Fields() []ent.Field {
	return []ent.Field{
		field.String("buyer"),
		field.Int64("parent_id").GoType(uid.ID(0)).Optional().Nillable(),
	}
}

var _ ent.Interface = Order{}
