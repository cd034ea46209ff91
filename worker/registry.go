package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"
	"gorm.io/gorm"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/internal/sqldb"
	"github.com/uidring/uidring/worker/internal/agreement"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// Registry gives each generator a new number from a database table, as the package comment
// describes. It need not be closed, and is safe for concurrent use.
type Registry struct {
	*table
	leases *table
	config RegistryConfig
	now    func() time.Time // replaced by tests
}

// NewRegistry returns a Registry that uses a table in db. NewRegistry itself does not contact the
// database. The Registry's methods report, in one error, everything that is invalid in db and
// config. See NewLeaser for which connections of db are used.
func NewRegistry(db *gorm.DB, config RegistryConfig) *Registry {
	leases := newTables(db, config.store(), config.Validate())
	return &Registry{leases.nodes, leases, config, time.Now}
}

// Assign inserts a row into the table and returns its key as the generator's worker number. The
// number is from 1 to limit, the largest that the layout allows, and has never been given out
// before. Call it once for each generator. While the database is busy, Assign retries for up to two
// minutes, or until ctx is done if that is earlier.
//
// If the next number would exceed limit, the error is a lease.ExhaustedError (lease.ErrExhausted).
// Other errors match lease.ErrConfig, ErrDB, ErrDialect, ErrKey, ErrMixed or ErrNoTable, are about
// the environment (see lease.DetectNode), or wrap the driver's error with the operation and the
// table. On error, number is 0; if the database has already consumed a key, no process ever uses
// that key.
//
// When ctx is done, Assign returns immediately with an error that matches ctx.Err(). The exception
// is SQLite: while another process is writing, Assign first waits out the driver's busy timeout.
func (r *Registry) Assign(ctx context.Context, limit int64) (number int64, err error) {
	grant, err := r.register(ctx, lease.Request{Limit: limit})
	return grant.Number, err
}

// Lease assigns a number and grants it without a time limit. It returns the same errors as Assign,
// or one that matches lease.ErrLayout (a lease.LayoutError) if the table remembers another layout.
func (r *Registry) Lease(ctx context.Context, request lease.Request) (lease.Lease, error) {
	grant, err := r.register(ctx, request)
	if err != nil {
		return nil, err
	}
	request.Granted(grant)
	return registered{}, nil
}

// registered is the lease of a number that no other start gets.
type registered struct{}

func (registered) Use(_, _ time.Time) {}

func (registered) Release(context.Context, time.Time) error { return nil }

// registerFor is how long a start retries while the database is busy, as package lease does.
const registerFor = 2 * time.Minute

func (r *Registry) register(ctx context.Context, request lease.Request) (lease.Grant, error) {
	faults := invalid.Of("worker")
	if request.Limit < 0 {
		faults.Add("limit", request.Limit, "0 or more")
	}
	node, err := r.config.node()
	if err := errors.Join(r.check(), faults.Err(), err); err != nil {
		return lease.Grant{}, err
	}
	return retry(ctx, r, func() (lease.Grant, error) { return r.start(ctx, request, node) })
}

// retry calls f until it succeeds, or fails for good.
func retry[T any](ctx context.Context, r *Registry, f func() (T, error)) (value T, last error) {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		if value, last = f(); last != nil && !leasestore.IsTransient(r.marked(last)) {
			return struct{}{}, backoff.Permanent(last)
		}
		return struct{}{}, last
	}, backoff.WithBackOff(&backoff.ExponentialBackOff{InitialInterval: 50 * time.Millisecond, RandomizationFactor: 0.5, Multiplier: 1.5, MaxInterval: 5 * time.Second}),
		backoff.WithMaxElapsedTime(registerFor))
	if err != nil {
		return value, last // with the operation, which the end of ctx does not say
	}
	return value, nil
}

// Layout returns the layout that the table remembers, for a generator whose config states none. In a
// new table, that is the text of [bits.Registry], and stored is false. If numbers were given out but
// the table remembers no layout, as Java's uid-generator leaves it, the error is a
// lease.UnknownLayoutError. Layout creates nothing, and retries as Assign does.
func (r *Registry) Layout(ctx context.Context) (layout string, stored bool, err error) {
	if err := r.check(); err != nil {
		return "", false, err
	}
	layout, err = retry(ctx, r, func() (string, error) {
		text, err := swapLayout(ctx, r.leases, "", leasestore.Terms{}, nil)
		if text == "" || err != nil {
			return "", err
		}
		is, err := agreement.Read(text)
		return is.Layout, err
	})
	switch {
	case errors.Is(err, lease.ErrLayout):
		return "", false, err
	case err != nil:
		return "", false, r.fail(ctx, "read the layout of", err)
	case layout == "":
		return bits.Registry().String(), false, nil
	case layout == anyLayout:
		return "", false, &lease.UnknownLayoutError{Store: r.name}
	}
	r.warnFew(ctx, layout)
	return layout, true, nil
}

// anyLayout is what a table remembers if its first holder stated no layout.
const anyLayout = "-"

func (r *Registry) start(ctx context.Context, request lease.Request, node lease.Node) (grant lease.Grant, err error) {
	if err := r.ready(ctx); err != nil {
		return grant, err
	}
	if err := keyed(ctx, r.log(), r.table); err != nil {
		return grant, r.fail(ctx, "check", err)
	}
	if err := r.readSession(ctx, r.log()); err != nil {
		return grant, r.fail(ctx, "read the session's settings for", err)
	}
	if err := r.leases.beside(ctx); err != nil {
		return grant, r.fail(ctx, "look for the table of leases beside", err)
	}
	numbers, err := r.agree(ctx, request)
	if err != nil {
		return grant, r.fail(ctx, "compare the layout with that of", err)
	}
	request.Limit = min(request.Limit, numbers.To)
	before := r.now()
	number, created, err := r.take(ctx, node, request, numbers.From)
	if err != nil {
		return grant, err
	}
	r.warnClock(ctx, before, created, r.now())
	r.warnUsedUp(ctx, number, request.Limit)
	return lease.Grant{Held: true, Number: number, Fresh: true, Numbers: numbers}, sqldb.WarnFlush(ctx, r.db, r.log(), "worker", r.name)
}

// agree compares the layout and the kind of numbers with the record, and makes one if there is none. It returns the
// numbers that may be used. A request without a layout, that of Assign, makes no record, and may use all.
func (r *Registry) agree(ctx context.Context, request lease.Request) (leasestore.Range, error) {
	terms := leasestore.Terms{Layout: request.Layout, Within: leasestore.Range{From: 1, To: request.Limit}}
	if request.Layout != "" {
		text, err := swapLayout(ctx, r.leases, "", terms, func(ctx context.Context) error { _, err := r.exec(ctx, probeNode); return err })
		if err != nil {
			return leasestore.Range{}, err
		}
		return agreed(text, request.Layout)
	}
	for {
		is, err := r.record(ctx)
		switch {
		case err != nil:
			return agreement.All, err
		case is != nil && is.divided():
			return agreement.All, is.refuse(r.table, terms)
		case is != nil:
			return agreement.All, nil
		}
		if again, err := first(ctx, r.leases, terms, false); !again || err != nil {
			return agreement.All, err
		}
	}
}

// agreed returns the numbers that may be used under a layout, or an error if the record has another one.
func agreed(text, layout string) (leasestore.Range, error) {
	is, err := agreement.Read(text)
	if err == nil && is.Layout != layout {
		err = &lease.LayoutError{Layout: layout, Remembered: is.Layout}
	}
	return is.Numbers, err
}

// take draws keys until one has no lease, and is not below from.
func (r *Registry) take(ctx context.Context, node lease.Node, request lease.Request, from int64) (number int64, created time.Time, err error) {
	for range maxDiscards {
		if number, err = r.draw(ctx, node, request.Limit); r.dialect().Duplicate(err) { // PostgreSQL counts without looking at the rows
			number = 0
			continue
		} else if err != nil {
			return 0, created, r.fail(ctx, "register in", err)
		} else if number < from {
			continue
		}
		if created, err = r.confirm(ctx, number, node, request); err != nil {
			return 0, created, r.fail(ctx, fmt.Sprintf("read back number %d from", number), err)
		}
		leased, err := r.leases.has(ctx, number)
		if err != nil {
			return 0, created, r.fail(ctx, fmt.Sprintf("compare number %d with the leases beside", number), err)
		}
		if !leased {
			return number, created, nil
		}
	}
	return 0, created, r.fail(ctx, "register in", wentBack(ctx, r.leases, number, from))
}

// has reports whether a number has a lease. A table that is missing, or may not be read, has none.
func (t *table) has(ctx context.Context, number int64) (bool, error) {
	var rows int64
	err := t.ask(ctx, &rows, "SELECT COUNT(*) FROM {table} WHERE worker_id = ?", number)
	if t.absent(ctx, err) {
		return false, nil
	}
	return rows > 0, err
}

// confirm reads the committed row by its key and checks that this call wrote
// it, and that the record is as it was before. It returns the database's time of creation.
func (r *Registry) confirm(ctx context.Context, number int64, wrote lease.Node, request lease.Request) (created time.Time, err error) {
	var rows []nodeRecord
	if err := r.ask(ctx, &rows, r.selectRows()+" WHERE id IN (-1, ?) ORDER BY id", number); err != nil {
		return time.Time{}, err
	}
	if len(rows) > 0 && rows[0].ID == recordID {
		is := record{rows[0].HostName, rows[0].Port, int(rows[0].Type)}
		if text, _ := is.layout(); request.Layout != "" {
			if numbers, err := agreed(text, request.Layout); err != nil {
				return time.Time{}, err
			} else if number < numbers.From || number > numbers.To {
				return time.Time{}, leasestore.Transient(fmt.Errorf("the layout has changed, and only numbers %s may be used now", numbers))
			}
		}
		if is.divided() {
			return time.Time{}, is.refuse(r.table, leasestore.Terms{Within: leasestore.Range{From: number, To: number}})
		}
		rows = rows[1:]
	} else if request.Layout != "" {
		return time.Time{}, leasestore.Transient(fmt.Errorf("row -1, which has the layout of the ids, is gone: %d rows", len(rows)))
	}
	if len(rows) != 1 {
		return time.Time{}, fmt.Errorf("%w: %d rows have the same key, want 1", ErrKey, len(rows))
	}
	if read := rows[0].node(); read != wrote {
		return time.Time{}, fmt.Errorf("%w: the inserted row reads %+v, want %+v", ErrKey, read, wrote)
	}
	return moment(rows[0].Created), nil
}

func (r *Registry) log() *slog.Logger { return cmp.Or(r.config.Logger, slog.Default()) }
