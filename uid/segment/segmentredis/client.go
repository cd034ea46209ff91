package segmentredis

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/internal/redisstore"
	"github.com/uidring/uidring/uid/segment"
)

// ErrReplica is matched when a request reached a replica.
var ErrReplica = errors.New("segmentredis: the server is a replica, want the master")

// once is a command that the client sends at most once.
type once struct{ *redis.Cmd }

// NoRetry makes the client report a lost answer instead of sending the command again.
func (once) NoRetry() bool { return true }

// run runs a script. It returns when ctx ends.
func (s *Store) run(ctx context.Context, script, tag string, args ...any) (answer, error) {
	if err := errors.Join(s.check(), ctx.Err()); err != nil {
		return nil, err
	}
	keys := s.keys()
	cmd := redis.NewCmd(ctx, append([]any{"eval", script, len(keys), keys[0], keys[1], tag}, args...)...)
	cmd.SetFirstKeyPos(3)
	reply, err := redisstore.Await(ctx, func() ([]any, error) {
		if err := s.client.Process(ctx, once{cmd}); err != nil {
			return nil, err
		}
		return cmd.Slice()
	})
	switch {
	case err != nil:
		return nil, s.named(tag, err)
	case answer(reply).word() == "":
		return nil, s.odd(reply)
	case answer(reply).word() == "replica":
		return nil, ErrReplica
	}
	return reply, nil
}

// named makes a replica's reply to a write match ErrReplica, and the reply for a key that
// is no hash segment.ErrUnusable.
func (s *Store) named(tag string, err error) error {
	switch {
	case redis.HasErrorPrefix(err, "READONLY"):
		return fmt.Errorf("%w: %w", ErrReplica, err)
	case strings.Contains(err.Error(), "WRONGTYPE"):
		return fmt.Errorf("%w: %q in %s: %w", segment.ErrUnusable, tag, s, err)
	}
	return err
}

// keys are the key of the counters and the key of their records.
func (s *Store) keys() [2]string { return [2]string{s.prefix + ":next", s.prefix + ":tags"} }

func (s *Store) check() error {
	return redisstore.Check("segmentredis", segment.ErrConfig, s.client, s.prefix, DefaultPrefix)
}

// answer is the list that a script returned.
type answer []any

// word returns the result in one word, or "" if the answer is not of a script.
func (a answer) word() string { return a.text(0) }

// text returns an element, or "" if the element is no text.
func (a answer) text(i int) string {
	if i >= len(a) {
		return ""
	}
	text, _ := a[i].(string)
	return text
}

// hash returns an element that is a list of fields and values.
func (a answer) hash(i int) map[string]string {
	if i >= len(a) {
		return nil
	}
	list, _ := a[i].([]any)
	fields := map[string]string{}
	for j := 0; j+1 < len(list); j += 2 {
		fields[answer(list).text(j)] = answer(list).text(j + 1)
	}
	return fields
}
