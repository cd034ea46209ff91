//go:build linux

package segmentredis_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentredis"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

func TestMain(m *testing.M) {
	segmenttest.Child(func(address string) (segment.Store, error) {
		address, prefix, _ := strings.Cut(address, " ")
		return segmentredis.New(redis.NewClient(&redis.Options{Addr: address}), segmentredis.Config{Prefix: prefix}), nil
	})
	goleak.VerifyTestMain(m)
}

// server is a Redis of the test's own.
type server struct{ *servertest.Redis }

func start(t testing.TB, args ...string) server {
	t.Helper()
	return server{servertest.StartRedis(t, args...)}
}

// client returns a client that finds the server wherever it is.
func (s server) client(t testing.TB, change ...func(*redis.Options)) *redis.Client {
	t.Helper()
	options := &redis.Options{
		Addr: s.Address(), Dialer: s.Dial,
		MinRetryBackoff: time.Millisecond, MaxRetryBackoff: 2 * time.Millisecond, DialerRetries: 1,
	}
	for _, f := range change {
		f(options)
	}
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	return client
}

// do sends commands of an operator. Words are separated by blanks.
func do(t testing.TB, client *redis.Client, commands ...string) {
	t.Helper()
	for _, command := range commands {
		var args []any
		for word := range strings.FieldsSeq(command) {
			args = append(args, word)
		}
		if err := client.Do(t.Context(), args...).Err(); err != nil && !redis.HasErrorPrefix(err, "OOM") {
			t.Fatalf("%s: %v", command, err)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
