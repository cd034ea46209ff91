package segmentredis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/internal/logqueue"
	"github.com/uidring/uidring/internal/redisstore"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// DefaultPrefix is the default of Config.Prefix.
const DefaultPrefix = "{uidring}:segments"

// Store is a [segment.Store] in Redis, safe for concurrent use. Make one with [New].
type Store struct {
	client redis.UniversalClient
	prefix string
	logger *slog.Logger
	warned atomic.Bool // written and read by Reserve

	journal logqueue.Queue
}

// Config configures a [Store]. Zero fields take their default values.
type Config struct {
	// Prefix is the prefix of the keys: UTF-8 without NUL, with a hash tag such as {orders}. Empty
	// means DefaultPrefix. Processes that share counters must use the same Prefix.
	Prefix string

	// Logger receives warnings, for example about a server that can lose writes; nil means
	// [slog.Default]. Requests do not wait for its handler.
	Logger *slog.Logger
}

// Validate returns an error that matches [uid.ErrConfig] if Prefix is invalid.
func (c Config) Validate() error {
	return redisstore.CheckPrefix("segmentredis", cmp.Or(c.Prefix, DefaultPrefix), DefaultPrefix).Err()
}

// New returns a Store that keeps its counters in Redis. New itself does not contact Redis. The
// Store's methods report, in one error, everything that is invalid in client and config. Close
// client only after closing the generators.
//
// client is a *redis.Client, with or without Sentinel, or a *redis.ClusterClient. A *redis.Ring
// is rejected: it moves keys to another server when one is unavailable.
func New(client redis.UniversalClient, config Config) *Store {
	return &Store{client: client, prefix: cmp.Or(config.Prefix, DefaultPrefix), logger: cmp.Or(config.Logger, slog.Default())}
}

// String returns a name for the store that includes the keys' prefix.
func (s *Store) String() string { return "redis " + s.prefix }

// Reserve implements [segment.Store].
func (s *Store) Reserve(ctx context.Context, tag string, n int64) (first, count int64, err error) {
	if n < 0 {
		return 0, 0, fmt.Errorf("segmentredis: reserve %d ids, want 0 (for the counter's step) or more", n)
	}
	s.warn(ctx)
	reply, err := s.run(ctx, reserving, tag, n)
	if err != nil {
		return 0, 0, err
	}
	switch reply.text(0) {
	case "unknown":
		return 0, 0, s.unknown(tag)
	case "rewound":
		return 0, 0, fmt.Errorf("%w: %q in %s: the counter is %s, its record is %s, want a counter that is not below the record",
			uid.ErrRewound, tag, s, reply.text(1), reply.text(2))
	case "used up":
		return 0, 0, fmt.Errorf("%w: %q in %s is %s, too high for %s more", segment.ErrUsedUp, tag, s, reply.text(1), reply.text(2))
	}
	first, err = strconv.ParseInt(reply.text(1), 10, 64)
	count, fault := strconv.ParseInt(reply.text(2), 10, 64)
	if err = errors.Join(err, fault); err != nil {
		return 0, 0, s.odd(reply)
	}
	return first, count, nil
}

// Return implements [segment.Returner].
func (s *Store) Return(ctx context.Context, tag string, first, next int64) (done bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if first < 1 || next <= first {
		return false, fmt.Errorf("segmentredis: return ids from %d to before %d, want a start of 1 or more and a greater end", first, next)
	}
	reply, err := s.run(ctx, returning, tag, first, next)
	return err == nil && reply.text(0) == "done", err
}

// Create implements [segment.Creator].
func (s *Store) Create(ctx context.Context, tag string, next, step int64) error {
	if err := segment.CheckTag(tag); err != nil {
		return err
	}
	if next < 1 || step < 1 {
		return fmt.Errorf("segmentredis: create %q from %d with step %d, want both 1 or more", tag, next, step)
	}
	reply, err := s.run(ctx, creating, tag, next, step)
	if err == nil && reply.text(0) == "exists" {
		return fmt.Errorf("%w: %q in %s", segment.ErrTagExists, tag, s)
	}
	return err
}

// Raise implements [segment.Raiser]. It also repairs a counter for which Reserve fails with
// [uid.ErrRewound]. If the record is lost, so is its step: Raise sets the step to
// [segment.DefaultStep], and logs a warning.
func (s *Store) Raise(ctx context.Context, tag string, next int64) (int64, error) {
	reply, err := s.run(ctx, raising, tag, max(next, 1), segment.DefaultStep)
	if err != nil {
		return 0, err
	}
	if reply.text(0) == "unknown" {
		return 0, s.unknown(tag)
	}
	now, err := strconv.ParseInt(reply.text(1), 10, 64)
	if err != nil {
		return 0, s.odd(reply)
	}
	if step := reply.text(2); step != "" {
		s.journal.Add(func() {
			s.logger.Warn("segmentredis: the record of a counter was lost; its step is the default again", "tag", tag, "step", step, "store", s.String())
		})
	}
	return now, nil
}

// List implements [segment.Lister]. Next is the greater of the counter and its record.
func (s *Store) List(ctx context.Context) ([]segment.CounterInfo, error) {
	reply, err := s.run(ctx, listing, "")
	if err != nil {
		return nil, err
	}
	found := map[string]segment.CounterInfo{}
	for tag, value := range reply.hash(1) {
		next, _ := strconv.ParseInt(value, 10, 64) // 0 for what is no counter
		found[tag] = segment.CounterInfo{Tag: tag, Next: next}
	}
	for tag, about := range reply.hash(2) {
		var most, step, seconds int64
		_, _ = fmt.Sscan(about, &most, &step, &seconds) // as far as it is readable
		found[tag] = segment.CounterInfo{Tag: tag, Next: max(found[tag].Next, most), Step: step, Updated: time.Unix(seconds, 0)}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b segment.CounterInfo) int { return strings.Compare(a.Tag, b.Tag) }), nil
}

func (s *Store) unknown(tag string) error {
	return fmt.Errorf("%w: %q in %s; create it with uidringd segments create %s", segment.ErrUnknownTag, tag, s, tag)
}

// odd is the error for an answer that no script gives.
func (s *Store) odd(reply answer) error {
	return fmt.Errorf("%w: %s answered %v", segment.ErrUnusable, s, reply)
}
