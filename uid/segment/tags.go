package segment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/uidring/uidring/internal/calls"
	"github.com/uidring/uidring/internal/deal"
	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/internal/logqueue"
	"github.com/uidring/uidring/uid"
)

// These are the defaults of the fields of [TagsConfig].
const (
	DefaultMaxTags = 10_000
	DefaultIdle    = time.Hour
)

// ErrTooManyTags means that Tags cannot open a tag, because the limit, TagsConfig.MaxTags, is
// reached.
var ErrTooManyTags = errors.New("segment: too many tags are open")

// TagsConfig configures [Tags]. Zero fields take their default values.
type TagsConfig struct {
	// Config configures the generator of each tag. With Create, any tag that is passed to a call
	// gets a counter: never set Create where users choose tags.
	Config

	// MaxTags is how many tags may be open at the same time. Zero means 10,000.
	MaxTags int

	// Idle is how long an unused tag stays open. After that, Tags returns the tag's unused ids to
	// the store, 16 tags at a time. Zero means an hour.
	Idle time.Duration
}

// Validate reports every invalid field in one error, which matches [uid.ErrConfig].
func (c TagsConfig) Validate() error { return c.prepare().Err() }

func (c *TagsConfig) prepare() *invalid.List {
	faults := c.Config.prepare()
	c.MaxTags = cmp.Or(c.MaxTags, DefaultMaxTags)
	c.Idle = cmp.Or(c.Idle, DefaultIdle)
	invalid.Positive(faults, "MaxTags", c.MaxTags)
	invalid.Positive(faults, "Idle", c.Idle)
	return faults
}

// Tags makes ids from many counters of one store. It opens a [Counter] when a tag is first used,
// and closes it once the tag is idle. Make one with [NewTags] and share it: all methods are safe
// for concurrent use. The zero value is not usable. Give the store's pool 16 idle connections,
// since tags open in parallel.
//
// An unknown tag costs at most one query a minute; if the store is a [Lister], all unknown tags
// share that query. So Tags finds a newly created tag within a minute.
type Tags struct {
	store   Store
	config  TagsConfig
	ctx     context.Context // ends at Shutdown
	cancel  func()
	closing context.Context // bounds the closing of idle tags; ends when Shutdown has to
	giveUp  func()
	running sync.WaitGroup
	journal logqueue.Queue

	open sync.Map // of *entry by tag; written with mu held

	mu      sync.Mutex
	count   int // of entries
	refused map[string]refusal
	list    *call[map[string]string] // what countersOf returned last; nil before the first
}

// entry is a tag that is open, opening or closing.
type entry struct {
	*calls.Pending[*Counter]
	gone chan struct{} // closed when the generator is closed and the entry removed

	issued int64     // at the last check
	since  time.Time // the first check with that count
}

// refusal is why Tags does not open a tag before a time.
type refusal struct {
	err   error
	until time.Time
}

// NewTags returns a Tags for store. NewTags itself does not call the store. Stop Tags with Close or
// Shutdown. Errors match [uid.ErrConfig].
func NewTags(store Store, config TagsConfig) (*Tags, error) {
	faults := config.prepare()
	if store == nil {
		faults.Add("store", "nil", "one such as segmentsql.NewLeafAlloc(db, segmentsql.Config{})")
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	t := &Tags{store: store, config: config, refused: map[string]refusal{}}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.closing, t.giveUp = context.WithCancel(context.Background())
	t.running.Go(t.keepIdleClosed)
	return t, nil
}

// Next returns the next id of tag, as [Counter.Next] does, but waits at most until ctx is done. If the
// tag is not open, Next opens it, which fails with the errors of New or [ErrTooManyTags].
func (t *Tags) Next(ctx context.Context, tag string) (id uid.ID, err error) {
	err = t.with(ctx, tag, func(g *Counter) error { id, err = g.next(ctx); return err })
	return id, err
}

// NextN is Next for many ids: see [uid.Generator].
func (t *Tags) NextN(ctx context.Context, tag string, ids []uid.ID) (int, error) {
	return t.fill(ctx, tag, ids, deal.Next)
}

// Wait is like Next, but also waits while the store is unavailable, until ctx is done.
func (t *Tags) Wait(ctx context.Context, tag string) (id uid.ID, err error) {
	err = t.with(ctx, tag, func(g *Counter) error { id, err = g.Wait(ctx); return err })
	return id, err
}

// WaitN is like NextN, but waits as Wait does.
func (t *Tags) WaitN(ctx context.Context, tag string, ids []uid.ID) (int, error) {
	return t.fill(ctx, tag, ids, deal.Wait)
}

// Claim returns between 1 and limit consecutive ids of tag, and waits as Wait does.
func (t *Tags) Claim(ctx context.Context, tag string, limit int64) (run uid.Run, err error) {
	err = t.with(ctx, tag, func(g *Counter) error { run, err = g.Claim(ctx, limit); return err })
	return run, err
}

// TryClaim returns between 1 and limit consecutive ids of tag that are ready, and never waits.
// Instead of waiting, it returns [uid.ErrNotReady], even for a tag that is not open: TryClaim does
// not open it.
func (t *Tags) TryClaim(tag string, limit int64) (uid.Run, error) {
	if found, open := t.open.Load(tag); open {
		if e := found.(*entry); e.Done() {
			if e.Err != nil {
				return uid.Run{}, e.Err
			}
			if run, err := e.Value.TryClaim(limit); !errors.Is(err, uid.ErrClosed) {
				return run, err
			}
		}
	}
	if t.ctx.Err() != nil {
		return uid.Run{}, uid.ErrClosed
	}
	return uid.Run{}, uid.ErrNotReady // a generator that was closed as idle is opened anew
}

func (t *Tags) fill(ctx context.Context, tag string, ids []uid.ID, how deal.How) (int, error) {
	filled := 0
	err := t.with(ctx, tag, func(g *Counter) error {
		n, err := g.claims.Fill(ctx, ids[filled:], how)
		filled += n
		return err
	})
	return filled, err
}

// with calls f with the generator of tag. If the generator was closed as idle, with
// opens another and calls f again.
func (t *Tags) with(ctx context.Context, tag string, f func(*Counter) error) error {
	for {
		e, err := t.get(ctx, tag)
		if err != nil {
			return err
		}
		if err = f(e.Value); !errors.Is(err, uid.ErrClosed) {
			return err
		}
		select {
		case <-e.gone:
		case <-t.ctx.Done():
			return uid.ErrClosed
		case <-ctx.Done():
			return fmt.Errorf("segment: wait for %q: %w", tag, ctx.Err())
		}
	}
}

func (t *Tags) get(ctx context.Context, tag string) (*entry, error) {
	found, open := t.open.Load(tag)
	if !open {
		e, err := t.add(ctx, tag)
		if err != nil {
			return nil, err
		}
		found = e
	}
	e := found.(*entry)
	if err := e.Wait(ctx); err != nil {
		return nil, fmt.Errorf("segment: open %q: %w", tag, err)
	}
	return e, e.Err
}

func (t *Tags) add(ctx context.Context, tag string) (*entry, error) {
	if err := checkPlain(tag); err != nil {
		return nil, err
	}
	if err := t.checkListed(ctx, tag); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if found, open := t.open.Load(tag); open {
		return found.(*entry), nil
	}
	r, refused := t.refused[tag]
	switch {
	case t.ctx.Err() != nil:
		return nil, uid.ErrClosed
	case refused && time.Now().Before(r.until):
		return nil, r.err
	case t.count == t.config.MaxTags:
		return nil, fmt.Errorf("%w: cannot open %q: MaxTags (%d) tags are open", ErrTooManyTags, tag, t.config.MaxTags)
	}
	e := &entry{gone: make(chan struct{}), since: time.Now()}
	e.Pending = calls.Go("segment", "open", func() (*Counter, error) { return t.openTag(tag, e) })
	t.count++
	t.open.Store(tag, e)
	t.running.Go(func() { _ = e.Wait(context.Background()) })
	return e, nil
}

func (t *Tags) openTag(tag string, e *entry) (*Counter, error) {
	gen, err := open(t.ctx, t.store, tag, t.config.Config)
	if err == nil {
		return gen, nil
	}
	wait := keepError
	if unavailable, ok := errors.AsType[*LoadError](err); ok {
		wait = unavailable.Retry
	}
	t.mu.Lock()
	if len(t.refused) >= t.config.MaxTags {
		clear(t.refused)
	}
	t.refused[tag] = refusal{err, time.Now().Add(wait)}
	t.mu.Unlock()
	t.remove(tag, e)
	return nil, err
}

func (t *Tags) remove(tag string, e *entry) {
	t.mu.Lock()
	t.open.Delete(tag)
	t.count--
	t.mu.Unlock()
	close(e.gone)
}

// Stats returns the Stats of the open tags, sorted by tag.
func (t *Tags) Stats() []uid.Stats {
	var all []uid.Stats
	t.each(func(_ string, e *entry) { all = append(all, e.Value.Stats()) })
	slices.SortFunc(all, func(a, b uid.Stats) int { return strings.Compare(a.Loads.Tag, b.Loads.Tag) })
	return all
}

func (t *Tags) each(f func(tag string, e *entry)) {
	t.open.Range(func(tag, value any) bool {
		if e := value.(*entry); e.Done() && e.Err == nil {
			f(tag.(string), e)
		}
		return true
	})
}
