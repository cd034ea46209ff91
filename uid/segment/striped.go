package segment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/internal/deal"
	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/ringbuffer"
	"github.com/uidring/uidring/uid"
)

// StripedConfig configures a [Striped] generator. Zero fields take their default values.
type StripedConfig struct {
	Config

	// Block is how many consecutive ids come from one store, up to 2^40; zero means 1,000. Never
	// change it once ids have been issued.
	Block int64
}

// Validate reports every invalid field in one error, which matches [uid.ErrConfig].
func (c StripedConfig) Validate() error { return c.prepare().Err() }

func (c *StripedConfig) prepare() *invalid.List {
	faults := c.Config.prepare()
	c.Block = cmp.Or(c.Block, DefaultStep)
	invalid.Range(faults, "Block", c.Block, 1, MaxStep)
	return faults
}

// Striped makes ids from one counter in each of several stores. Blocks of consecutive ids rotate
// among the N stores: stores[i] has every block b with b mod N = i, where block b begins at id b ×
// Block. Striped makes ids as long as at least one store is reachable. Make one with [NewStriped].
// All methods are safe for concurrent use.
//
// Order: each id comes from a random store, so ids ascend only within one store.
type Striped struct {
	claimer
	shards  []*shard
	policy  deal.Policy
	ctx     context.Context // ends at Shutdown
	cancel  func()
	opening sync.WaitGroup
}

type shard struct {
	store  Store
	plain  string // the tag that New would use
	tag    string // of the stripe
	stripe stripe
	config Config
	gen    atomic.Pointer[Counter] // nil until the store was reached
	err    atomic.Pointer[error]   // why it was not
}

var _ uid.Generator = (*Striped)(nil)

// NewStriped returns a generator that draws ids of tag from all stores. Never change the number or
// order of stores, because both are part of each counter's tag: for the tag "orders", store 2 of 3
// keeps its counter under "orders 2/3 x1000". A tag that [New] or [Tags] has used is refused until
// its counter is split. With Create, each store must be a [Lister], and also gets a counter for tag
// itself that has no ids to give, so that New and Tags cannot use the tag.
//
// The errors are the same as for [New], but they match [uid.ErrUnavailable] only if no store is
// reachable, and [uid.ErrConfig] also if ids would repeat: the counters were created for another
// number or order of stores, or another Block.
func NewStriped(ctx context.Context, stores []Store, tag string, config StripedConfig) (*Striped, error) {
	shards, err := shardsOf(stores, tag, &config)
	if err != nil {
		return nil, err
	}
	s := &Striped{shards: shards, policy: deal.PolicyOf("segment", config.RejectedTake, uid.PolicyHelp)}
	s.claims = deal.NewClaims[uid.ID, uid.Run](s.claim)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// shardsOf returns the shards of stores and fills in the defaults of config, or returns
// all faults.
func shardsOf(stores []Store, tag string, config *StripedConfig) (shards []*shard, err error) {
	n := int64(len(stores))
	faults := config.prepare()
	if n == 0 || slices.Contains(stores, nil) {
		faults.Add("stores", stores, "one or more, and none nil")
	}
	if least := config.Block * n; config.Block <= MaxStep && config.Limit < least {
		faults.Add("Limit", config.Limit, fmt.Sprintf("%d or more: a block of %d for each of %d stores", least, config.Block, n))
	}
	if err := errors.Join(faults.Err(), checkPlain(tag), CheckTag(stripe{config.Block, n - 1, n}.tag(tag))); err != nil {
		return nil, err
	}
	for i, store := range stores {
		stripe := stripe{config.Block, int64(i), n}
		shards = append(shards, &shard{store: store, plain: tag, tag: stripe.tag(tag), stripe: stripe, config: config.Config})
	}
	return shards, nil
}

// Next returns an id from any store that has one ready. If no store has one, RejectedTake decides:
// [uid.PolicyHelp], the default, waits for a store that is loading, and fails when all are
// unavailable.
func (s *Striped) Next() (uid.ID, error) {
	run, err := s.claim(context.Background(), 1, deal.Next)
	return uid.ID(run.First), err
}

// poll is how long a call waits for one store before it looks at the others again.
const poll = 10 * time.Millisecond

// claim claims consecutive ids of one store, beginning with a random one.
func (s *Striped) claim(ctx context.Context, limit int64, how deal.How) (ringbuffer.Run, error) {
	for attempt := 1; ; attempt++ {
		var loading *Counter
		var faults []error
		first := rand.IntN(len(s.shards))
		for i := range s.shards {
			h := s.shards[(first+i)%len(s.shards)]
			gen := h.gen.Load()
			if gen == nil {
				faults = append(faults, h.failure())
				continue
			}
			// When this store has to load, another store may have ids.
			if run, err := gen.loader.dealer.Claim(ctx, limit, deal.Try); err == nil {
				return run, nil
			}
			if err := gen.loader.failure(); err != nil {
				faults = append(faults, err)
			} else {
				loading = gen
			}
		}
		var err error
		switch {
		case s.ctx.Err() != nil:
			err = uid.ErrClosed
		case how == deal.Try:
			err = uid.ErrNotReady
		case how == deal.Next:
			if err = s.policy(uid.ErrNotReady, attempt); err == nil && loading == nil {
				err = s.policy(errors.Join(faults...), attempt)
			}
		}
		if err != nil {
			return ringbuffer.Run{}, err
		}
		if run, err := s.pause(ctx, loading, limit); run.N > 0 || err != nil {
			return run, err
		}
	}
}

// pause waits up to poll for ids of a store that is loading, if there is one.
func (s *Striped) pause(ctx context.Context, loading *Counter, limit int64) (run ringbuffer.Run, err error) {
	short, cancel := context.WithTimeout(ctx, poll)
	defer cancel()
	if loading != nil {
		run, _ = loading.loader.dealer.Claim(short, limit, deal.Wait)
	} else {
		<-short.Done()
	}
	if run.N == 0 && ctx.Err() != nil {
		err = fmt.Errorf("segment: wait for an id: %w", ctx.Err())
	}
	return run, err
}

// Stats returns the sum of the counts of all stores. LastError is set if no store is reachable.
// Loads is nil: [Striped.Stores] has the Stats of each store.
func (s *Striped) Stats() uid.Stats {
	sum := uid.Stats{Closed: s.ctx.Err() != nil}
	var faults []error
	all := s.Stores()
	for _, one := range all {
		sum.Issued += one.Issued
		sum.Starved += one.Starved
		sum.RejectedTakes += one.RejectedTakes
		sum.Waited += one.Waited
		sum.Remaining += one.Remaining
		if one.LastError != nil {
			faults = append(faults, one.LastError)
		}
	}
	if len(faults) == len(all) {
		sum.LastError = errors.Join(faults...)
	}
	return sum
}

// Stores returns the Stats of each store's generator. For a store that has not been reached yet,
// only Closed, LastError, Loads.From and Loads.Tag are set.
func (s *Striped) Stores() []uid.Stats {
	var all []uid.Stats
	for _, h := range s.shards {
		if gen := h.gen.Load(); gen != nil {
			all = append(all, gen.Stats())
			continue
		}
		all = append(all, uid.Stats{
			LastError: h.failure(), Closed: s.ctx.Err() != nil, Loads: &uid.LoadStats{From: h.store.String(), Tag: h.tag},
		})
	}
	return all
}

// Close is [Striped.Shutdown] with a timeout of [uid.CloseTimeout].
func (s *Striped) Close() error { return deal.Close(s.Shutdown) }

// Shutdown unblocks every waiting call and returns unused ids to all stores in parallel. ctx bounds
// how long it waits for them.
func (s *Striped) Shutdown(ctx context.Context) error {
	s.cancel()
	s.opening.Wait()
	faults := make([]error, len(s.shards))
	var closing sync.WaitGroup
	for i, h := range s.shards {
		if gen := h.gen.Load(); gen != nil {
			closing.Go(func() { faults[i] = gen.Shutdown(ctx) })
		}
	}
	closing.Wait()
	return errors.Join(faults...)
}
