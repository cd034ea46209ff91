package segmentsql

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

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
// While a database is unavailable, processes use the rows of the others. A start refuses a row
// that two databases have, with [ErrOverlap].
//
// To move a row, read its max_id, and delete it on condition that max_id is unchanged; if
// that deletes nothing, read again. Then insert it into the new database. Never insert
// first: while two databases have a row, ids can repeat.
func Rows(n int, dbs ...*gorm.DB) []segment.Store {
	var databases []*Store
	for _, db := range dbs {
		databases = append(databases, LeafAlloc(db, Config{}))
	}
	rows := make([]segment.Store, max(n, 0))
	for i := range rows {
		rows[i] = &rowStore{databases: databases, i: i, n: n}
	}
	return rows
}

// rowStore is the i-th store of n.
type rowStore struct {
	databases []*Store
	i, n      int
	home      sync.Map // *Store by tag, where the row was found last
}

func (r *rowStore) String() string {
	return fmt.Sprintf("row %d of %d in %d databases", r.i+1, r.n, len(r.databases))
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
	home, known := r.home.Load(tag)
	if !known {
		return false, nil
	}
	return home.(*Store).Return(ctx, tag, first, next)
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
// while a database is unavailable, since that one may have the row.
func (r *rowStore) Create(ctx context.Context, tag string, next, step int64) error {
	switch _, err := r.find(ctx, tag, true); {
	case err == nil:
		return fmt.Errorf("%w: %q in %s", segment.ErrTagExists, tag, r)
	case !errors.Is(err, segment.ErrUnknownTag):
		return err
	}
	return r.databases[r.i%len(r.databases)].Create(ctx, tag, next, step)
}

// stripedTag is the end of the tag of a counter of segment.Stripe.
var stripedTag = regexp.MustCompile(` (\d+)/(\d+) x\d+$`)

// List implements [segment.Lister]. It leaves out the rows of the other stores, and
// those in databases that do not answer, unless none does.
func (r *rowStore) List(ctx context.Context) ([]segment.Counter, error) {
	var all []segment.Counter
	var unavailable []error
	for _, a := range callAll(ctx, r.databases, (*Store).List) {
		if errors.Is(a.err, segment.ErrUnknownTag) { // no table there
			continue
		}
		if a.err != nil {
			unavailable = append(unavailable, a.err)
		}
		all = append(all, a.value...)
	}
	if len(unavailable) > 0 && len(unavailable) == len(r.databases) {
		return nil, errors.Join(unavailable...)
	}
	all = slices.DeleteFunc(all, func(c segment.Counter) bool {
		parts := stripedTag.FindStringSubmatch(c.Tag)
		return parts != nil && parts[2] == strconv.Itoa(r.n) && parts[1] != strconv.Itoa(r.i+1)
	})
	slices.SortFunc(all, func(a, b segment.Counter) int { return strings.Compare(a.Tag, b.Tag) })
	return all, nil
}

// at calls f with the database that has a tag's row. If the row has moved, at calls f
// again.
func (r *rowStore) at(ctx context.Context, tag string, f func(*Store) error) error {
	if home, known := r.home.Load(tag); known {
		if err := f(home.(*Store)); !errors.Is(err, segment.ErrUnknownTag) {
			return err
		}
	}
	home, err := r.find(ctx, tag, false)
	if err != nil {
		return err
	}
	r.home.Store(tag, home)
	return f(home)
}

// find looks for a tag's row in all databases. If all is set, each of them has to
// answer.
func (r *rowStore) find(ctx context.Context, tag string, all bool) (*Store, error) {
	if len(r.databases) == 0 {
		return nil, fmt.Errorf("%w: want one database or more", ErrDB)
	}
	var found []*Store
	var unavailable []error
	read := func(s *Store, ctx context.Context) (int64, error) { return s.Raise(ctx, tag, 0) } // only reads
	for i, a := range callAll(ctx, r.databases, read) {
		switch {
		case a.err == nil:
			found = append(found, r.databases[i])
		case !errors.Is(a.err, segment.ErrUnknownTag):
			unavailable = append(unavailable, a.err)
		}
	}
	switch {
	case len(found) > 1:
		return nil, fmt.Errorf("%w: %q is in %d databases", ErrOverlap, tag, len(found))
	case len(unavailable) > 0 && (all || len(found) == 0):
		return nil, errors.Join(unavailable...)
	case len(found) == 0:
		return nil, fmt.Errorf("%w: %q in %s", segment.ErrUnknownTag, tag, r)
	}
	return found[0], nil
}

// answer is what a database said.
type answer[T any] struct {
	value T
	err   error
}

// callAll calls f for all databases at once, and returns their answers in order. It leaves
// half of the time until ctx ends, so that a database that hangs does not use it up.
func callAll[T any](ctx context.Context, stores []*Store, f func(*Store, context.Context) (T, error)) []answer[T] {
	if end, bounded := ctx.Deadline(); bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/2)
		defer cancel()
	}
	answers := make([]answer[T], len(stores))
	var asking sync.WaitGroup
	for i, s := range stores {
		asking.Go(func() { answers[i].value, answers[i].err = f(s, ctx) })
	}
	asking.Wait()
	return answers
}
