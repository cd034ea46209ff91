package segmentsql

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"gorm.io/gorm"

	"github.com/uidring/uidring/uid/segment"
)

// ErrOverlap is matched when several databases have a row for the same counter. It
// matches [segment.ErrStripe].
var ErrOverlap = fmt.Errorf("%w: several databases have the counter", segment.ErrStripe)

// Rows returns n stores for [segment.Stripe], whose rows are spread over databases:
//
//	gen, err := segment.Stripe(ctx, segmentsql.Rows(10, dbs...), "orders", segment.StripeConfig{})
//
// The rows are those of [LeafAlloc], one for each store and tag, in any of the
// databases. n never changes, but databases may: start with more rows than databases.
//
// To move a row, read and delete it in one transaction of the old database, and then
// insert it into the new one. Meanwhile processes use other rows. Never insert first:
// while two databases have a row, ids can repeat. A start refuses that, with
// [ErrOverlap].
func Rows(n int, dbs ...*gorm.DB) []segment.Store {
	shared := &databases{home: map[string]*Store{}}
	for _, db := range dbs {
		shared.stores = append(shared.stores, LeafAlloc(db))
	}
	stores := make([]segment.Store, max(n, 0))
	for i := range stores {
		stores[i] = &rowStore{shared, i, n}
	}
	return stores
}

// databases have the rows of all stores.
type databases struct {
	stores []*Store

	mu   sync.Mutex
	home map[string]*Store // where a tag's row was found last; guarded by mu
}

// rowStore is the i-th store of n.
type rowStore struct {
	*databases
	i, n int
}

func (r *rowStore) String() string {
	return fmt.Sprintf("row %d of %d in %d databases", r.i+1, r.n, len(r.stores))
}

// Reserve implements [segment.Store].
func (r *rowStore) Reserve(ctx context.Context, tag string, n int64) (first, count int64, err error) {
	err = r.at(ctx, tag, func(s *Store) (err error) {
		first, count, err = s.Reserve(ctx, tag, n)
		return err
	})
	return first, count, err
}

// Return implements [segment.Returner]. It returns nothing if the row has moved since
// it was last read.
func (r *rowStore) Return(ctx context.Context, tag string, first, next int64) (bool, error) {
	r.mu.Lock()
	home := r.home[tag]
	r.mu.Unlock()
	if home == nil {
		return false, nil
	}
	return home.Return(ctx, tag, first, next)
}

// Raise implements [segment.Raiser].
func (r *rowStore) Raise(ctx context.Context, tag string, next int64) (now int64, err error) {
	err = r.at(ctx, tag, func(s *Store) (err error) {
		now, err = s.Raise(ctx, tag, next)
		return err
	})
	return now, err
}

// Create implements [segment.Creator]. The databases get rows in turn. Create fails
// while a database is away, since that one may have the row.
func (r *rowStore) Create(ctx context.Context, tag string, next, step int64) error {
	switch _, err := r.find(ctx, tag, true); {
	case err == nil:
		return fmt.Errorf("%w: %q in %s", segment.ErrTagExists, tag, r)
	case !errors.Is(err, segment.ErrUnknownTag):
		return err
	}
	return r.stores[r.i%len(r.stores)].Create(ctx, tag, next, step)
}

// stripedTag is the end of the tag of a counter of segment.Stripe.
var stripedTag = regexp.MustCompile(` (\d+)/(\d+) x\d+$`)

// List implements [segment.Lister]. It leaves out the rows of the other stores.
func (r *rowStore) List(ctx context.Context) ([]segment.Counter, error) {
	var all []segment.Counter
	for _, s := range r.stores {
		counters, err := s.List(ctx)
		if err != nil && !s.dialect().Missing(err) {
			return nil, err
		}
		all = append(all, counters...)
	}
	return slices.DeleteFunc(all, func(c segment.Counter) bool {
		parts := stripedTag.FindStringSubmatch(c.Tag)
		return parts != nil && parts[2] == strconv.Itoa(r.n) && parts[1] != strconv.Itoa(r.i+1)
	}), nil
}

// at calls f with the database that has a tag's row. If the row has moved, at calls f
// again.
func (r *rowStore) at(ctx context.Context, tag string, f func(*Store) error) error {
	r.mu.Lock()
	home := r.home[tag]
	r.mu.Unlock()
	if home != nil {
		if err := f(home); !errors.Is(err, segment.ErrUnknownTag) {
			return err
		}
	}
	home, err := r.find(ctx, tag, false)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.home[tag] = home
	r.mu.Unlock()
	return f(home)
}

// find looks for a tag's row in all databases. If all is set, each of them has to
// answer.
func (r *rowStore) find(ctx context.Context, tag string, all bool) (*Store, error) {
	if len(r.stores) == 0 {
		return nil, fmt.Errorf("%w: want one database or more", ErrDB)
	}
	var found []*Store
	var away []error
	for _, s := range r.stores {
		_, err := s.Raise(ctx, tag, 0) // only reads
		switch {
		case err == nil:
			found = append(found, s)
		case !errors.Is(err, segment.ErrUnknownTag):
			away = append(away, err)
		}
	}
	switch {
	case len(found) > 1:
		return nil, fmt.Errorf("%w: %q is in %d databases", ErrOverlap, tag, len(found))
	case len(away) > 0 && (all || len(found) == 0):
		return nil, errors.Join(away...)
	case len(found) == 0:
		return nil, fmt.Errorf("%w: %q in %s", segment.ErrUnknownTag, tag, r)
	}
	return found[0], nil
}
