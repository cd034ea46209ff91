package backfill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/time/rate"

	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/uid"
)

// passes is how often rows that have come without an id are filled. If there are some
// still, a process writes rows without ids.
const passes = 10

// every is the interval between lines of progress, without a terminal.
const every = 10 * time.Second

// filler fills a table, pass after pass.
type filler struct {
	*table
	flags  *flags
	stderr io.Writer
	open   func(context.Context) (*uid.Backfill, error)

	made    *uid.Backfill // of the pass
	present int64         // tick in which the pass began
	floor   time.Time     // where the pass's ids go on if earlier ticks are full

	limit   *rate.Limiter
	shown   *progressbar.ProgressBar
	began   time.Time
	said    time.Time // when progress was last written
	filled  int64
	workers map[int64]bool // in the ids that were made
	spilled int64          // ticks by which an id is later than its row, at most
}

// run fills the rows that were found, and those that have come meanwhile.
func (f *filler) run(ctx context.Context, found survey) (err error) {
	f.limit = rate.NewLimiter(rate.Inf, int(f.flags.batch))
	if f.flags.rate > 0 {
		f.limit.SetLimit(rate.Limit(f.flags.rate))
	}
	f.shown, f.began, f.said = cli.Progress(f.stderr, found.Rows, "rows"), time.Now(), time.Now()
	defer func() { _ = f.shown.Clear() }()
	for pass := 0; found.Rows > 0; pass++ {
		if pass == passes {
			return fmt.Errorf("rows without %s keep coming: first deploy the service that writes it, then run this command again", f.column.Name)
		}
		// The generator stamps no tick that has not passed.
		if err := sleep(ctx, min(ahead, time.Until(found.newest)+f.ids.Layout().Unit)); err != nil {
			return err
		}
		if err := f.pass(ctx); err != nil {
			return err
		}
		if found, err = f.survey(ctx); err != nil {
			return err
		}
	}
	return nil
}

// pass fills all rows that have no id yet, under a new worker number.
func (f *filler) pass(ctx context.Context) (err error) {
	f.present, f.floor = f.ids.Tick(time.Now()), time.Time{}
	if f.made, err = f.open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.made.Close()) }()
	rows, err := f.empty(ctx, nil)
	for err == nil && len(rows) > 0 {
		for part := range slices.Chunk(rows, int(f.flags.batch)) {
			n, err := f.stamp(ctx, part)
			if err == nil && n > 0 {
				err = f.write(ctx, part[:n])
			}
			if err != nil || n < len(part) { // the rest is for the next pass
				return err
			}
		}
		rows, err = f.empty(ctx, &rows[len(rows)-1])
	}
	return err
}

// write writes a batch at the rate that is allowed.
func (f *filler) write(ctx context.Context, rows []row) error {
	if err := f.limit.WaitN(ctx, len(rows)); err != nil {
		return err
	}
	n, err := f.update(ctx, rows)
	if err != nil {
		return err
	}
	f.filled += n
	if f.filled > f.shown.GetMax64() {
		f.shown.ChangeMax64(f.filled)
	}
	_ = f.shown.Set64(f.filled)
	if time.Since(f.said) > every && !cli.Terminal(f.stderr) {
		f.said = time.Now()
		f.notify("%s", progress(f.filled, f.shown.GetMax64(), time.Since(f.began)))
	}
	return sleep(ctx, f.flags.pause)
}

// progress says how far rows have come in a time.
func progress(rows, all int64, took time.Duration) string {
	left := time.Duration(float64(took) * float64(all-rows) / float64(max(rows, 1)))
	return fmt.Sprintf("%d of %d rows, %.0f a second, %v left", rows, all, float64(rows)/took.Seconds(), left.Round(time.Second))
}

// sleep waits for a while, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// stamp gives ids to rows, and returns how many it has reached: it leaves those that are
// too young for the pass.
func (f *filler) stamp(ctx context.Context, rows []row) (n int, err error) {
	for i := range rows {
		id, err := f.id(ctx, rows[i].at)
		if errors.Is(err, uid.ErrBackfillTime) && max(f.ids.Tick(rows[i].at), f.ids.Tick(f.floor)) >= f.present {
			return i, nil
		}
		if err != nil {
			return i, fmt.Errorf("the row with %s %v: %w", f.key.Name, rows[i].key, err)
		}
		rows[i].id = new(int64(id))
	}
	return len(rows), nil
}

// id returns the id of a time. If its tick is full, the id is of the next that is not. It waits while
// the worker number is lost.
func (f *filler) id(ctx context.Context, at time.Time) (uid.ID, error) {
	stamped := at
	if stamped.Before(f.floor) {
		stamped = f.floor
	}
	for {
		id, err := f.made.At(stamped)
		switch {
		case err == nil:
			f.workers[f.made.Worker()] = true
			f.spilled = max(f.spilled, f.ids.Tick(stamped)-f.ids.Tick(at))
			return id, nil
		case errors.Is(err, uid.ErrTickFull):
			stamped = f.ids.Time(f.ids.Tick(stamped) + 1)
			f.floor = stamped
		case errors.Is(err, uid.ErrReservation):
			if err := f.regain(ctx, stamped); err != nil {
				return 0, err
			}
		default:
			return 0, err
		}
	}
}

// regain waits until the generator has a worker number again.
func (f *filler) regain(ctx context.Context, at time.Time) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		_, err := f.made.AtN(at, nil)
		if err != nil && !errors.Is(err, uid.ErrReservation) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithMaxElapsedTime(retryFor), backoff.WithNotify(func(err error, _ time.Duration) { f.notify("waiting: %v", err) }))
	return err
}
