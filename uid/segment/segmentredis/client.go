package segmentredis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/internal/redisstore"
	"github.com/uidring/uidring/uid/segment"
)

// once is a command that the client sends at most once.
type once struct{ *redis.Cmd }

// NoRetry makes the client report a lost answer instead of sending the command again.
func (once) NoRetry() bool { return true }

// run runs a script. It returns when ctx is done.
func (s *Store) run(ctx context.Context, script, tag string, args ...any) (answer, error) {
	if err := errors.Join(s.check(), ctx.Err()); err != nil {
		return nil, err
	}
	keys := s.keys()
	var reply []any
	var err error
	for idle := int(s.client.PoolStats().IdleConns); idle >= 0; idle-- { // all may lead to a server that was the master
		cmd := redis.NewCmd(ctx, append([]any{"eval", script, len(keys), keys[0], keys[1], tag}, args...)...)
		cmd.SetFirstKeyPos(3)
		reply, err = redisstore.Await(ctx, func() ([]any, error) {
			if err := s.client.Process(ctx, once{cmd}); err != nil {
				return nil, err
			}
			return cmd.Slice()
		})
		if !redis.HasErrorPrefix(err, "READONLY") { // with which a script has done nothing
			break
		}
	}
	switch {
	case redis.HasErrorPrefix(err, "READONLY"):
		return nil, fmt.Errorf("segmentredis: the server is a replica, want the master: %w", err)
	case redis.HasErrorPrefix(err, "WRONGTYPE"):
		return nil, fmt.Errorf("%w: %q in %s: %w", segment.ErrUnusable, tag, s, err)
	case err != nil:
		return nil, redisstore.Denied(err, ACL(s.prefix))
	case answer(reply).text(0) == "":
		return nil, s.odd(reply)
	}
	return reply, nil
}

// ACL returns the ACL SETUSER rules that let a Redis user do what a [Store] does under a prefix.
// An empty prefix means DefaultPrefix.
func ACL(prefix string) string {
	keys := New(nil, Config{Prefix: prefix}).keys()
	return redisstore.ACL(keys[:], "eval", "hget", "hgetall", "hset", "hincrby")
}

func (s *Store) keys() [2]string { return [2]string{s.prefix + ":next", s.prefix + ":tags"} }

func (s *Store) check() error {
	return redisstore.Check("segmentredis", s.client, s.prefix, DefaultPrefix)
}

// warn logs, once for each Store, if the server may lose writes that it acknowledged.
// If the server is unavailable, the next Reserve asks it again.
func (s *Store) warn(ctx context.Context) {
	if s.check() != nil || ctx.Err() != nil || !s.warned.CompareAndSwap(false, true) {
		return
	}
	wrong, err := redisstore.Await(ctx, func() (string, error) { return s.forgetful(ctx) })
	var refused redis.Error // the user may not read the settings
	if err != nil && (ctx.Err() != nil || !errors.As(err, &refused)) {
		s.warned.Store(false)
		return
	}
	if wrong != "" {
		s.journal.Add(func() {
			s.logger.Warn("segmentredis: "+redisstore.Forgets, "settings", wrong, "error", err, "store", s.String())
		})
	}
}

func (s *Store) forgetful(ctx context.Context) (string, error) {
	var server redis.Cmdable = s.client
	if cluster, ok := s.client.(*redis.ClusterClient); ok {
		master, err := cluster.MasterForKey(ctx, s.keys()[0])
		if err != nil {
			return "", err
		}
		server = master
	}
	var info string
	wrong, err := redisstore.Forgetful(func(setting string) (map[string]string, error) { return server.ConfigGet(ctx, setting).Result() },
		func() (_ string, err error) { info, err = server.Info(ctx).Result(); return info, err })
	if err == nil && !strings.Contains(info, "connected_slaves:0") {
		wrong = strings.TrimPrefix(wrong+", replicas, and a failover undoes the last writes", ", ")
	}
	return wrong, err
}

// answer is the list that a script returned. Its first element is a word.
type answer []any

// text returns an element, or "" if the element is not a text.
func (a answer) text(i int) string {
	if i >= len(a) {
		return ""
	}
	text, _ := a[i].(string)
	return text
}

// hash returns an element that is a list of fields and values.
func (a answer) hash(i int) map[string]string {
	fields := map[string]string{}
	if i < len(a) {
		list, _ := a[i].([]any)
		for pair := range slices.Chunk(answer(list), 2) {
			fields[pair.text(0)] = pair.text(1)
		}
	}
	return fields
}
