package segment_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// panicky is a store that panics in the methods that are set.
type panicky struct {
	*counter
	reserve, take, list, create bool
}

func (p *panicky) Reserve(ctx context.Context, tag string, n int64) (int64, int64, error) {
	if p.reserve {
		panic("no")
	}
	return p.counter.Reserve(ctx, tag, n)
}

func (p *panicky) Return(ctx context.Context, tag string, first, next int64) (bool, error) {
	if p.take {
		panic("no")
	}
	return p.counter.Return(ctx, tag, first, next)
}

func (p *panicky) List(ctx context.Context) ([]segment.Counter, error) {
	if p.list {
		panic("no")
	}
	return p.counter.List(ctx)
}

func (p *panicky) Create(ctx context.Context, tag string, next, step int64) error {
	if p.create {
		panic("no")
	}
	return p.counter.Create(ctx, tag, next, step)
}

// wantPanic wants an error that says which method of the store panicked, and nothing of
// other packages.
func wantPanic(t *testing.T, err error, in string) {
	t.Helper()
	var panicked *uid.PanicError
	if !errors.As(err, &panicked) || !strings.Contains(err.Error(), "segment: panic in "+in+": no") {
		t.Errorf("%v, want a PanicError in %s", err, in)
	}
}

// A panic of the store is an error, whoever calls the store, in whichever goroutine.
func TestStorePanics(t *testing.T) {
	create := segment.Config{Create: true}
	for in, store := range map[string]*panicky{
		"Store.Reserve": {reserve: true},
		"Store.Create":  {create: true},
	} {
		store.counter = new(counter)
		_, err := segment.New(t.Context(), store, "orders", create)
		wantPanic(t, err, in)
		_, err = openTags(t, store, segment.TagsConfig{Config: create}).Next(t.Context(), "orders")
		wantPanic(t, err, in)
		store.counter = new(counter)
		_, err = segment.Stripe(t.Context(), []segment.Store{store}, "orders", segment.StripeConfig{Config: create})
		wantPanic(t, err, in)
	}

	store := &panicky{counter: new(counter), list: true}
	_, err := segment.Stripe(t.Context(), []segment.Store{store}, "orders", segment.StripeConfig{Config: create})
	wantPanic(t, err, "Store.List")
	_, err = openTags(t, store, segment.TagsConfig{}).Next(t.Context(), "orders")
	wantPanic(t, err, "Store.List")
	_, err = segment.New(t.Context(), store, "orders", create)
	wantPanic(t, err, "Store.List")

	err = open(t, &panicky{counter: new(counter), take: true}, segment.Config{}).Close()
	if wantPanic(t, err, "Store.Return"); !strings.Contains(err.Error(), "return 1000 ids") {
		t.Errorf("Close() = %v, want that 1000 ids are not returned", err)
	}
}

// A panic of the policy is an error that names the policy.
func TestPolicyPanics(t *testing.T) {
	store, other := new(counter), new(counter)
	config := segment.Config{Create: true, Step: 5, MaxStep: 5, RejectedTake: func(uid.Refusal) error { panic("no") }}
	generators := []uid.Generator{
		open(t, store, config),
		stripe(t, []segment.Store{other}, segment.StripeConfig{Config: config}),
	}
	store.unavailable.Store(true)
	other.unavailable.Store(true)
	for _, g := range generators {
		var err error
		for err == nil {
			_, err = g.Next()
		}
		wantPanic(t, err, "RejectedTake")
	}
}
