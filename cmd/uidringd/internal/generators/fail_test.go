package generators

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/worker/lease"
)

// A generator is not ready if it is closed, or fails with no id left; tags are if all of
// them are so.
func TestAllFail(t *testing.T) {
	gone := errors.New("gone")
	failing, left := uid.Stats{LastError: gone}, uid.Stats{LastError: gone, Remaining: 1}
	waiting, closed := uid.Stats{LastError: &uid.BorrowLimitError{}}, uid.Stats{Closed: true}
	for _, test := range []struct {
		all  []uid.Stats
		want bool
	}{
		{nil, false}, {[]uid.Stats{{}}, false}, {[]uid.Stats{failing}, true}, {[]uid.Stats{left}, false}, {[]uid.Stats{waiting}, false},
		{[]uid.Stats{closed}, true}, {[]uid.Stats{failing, closed}, true}, {[]uid.Stats{failing, left, closed}, false},
	} {
		all := map[string]uid.Stats{}
		for i, s := range test.all {
			all[strconv.Itoa(i)] = s
		}
		if err := allFail(all); (err != nil) != test.want {
			t.Errorf("%+v: %v, want an error %t", test.all, err, test.want)
		}
	}
}

// Open and Close wait for a start in a store that ignores its context no longer than they may, and
// Close for a generator whose store hangs.
func TestCloseBesideAStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &member{Generator: &config.Generator{Name: "a"}}
		m.state.Store(&state{err: service.ErrStarting})
		open := &member{Generator: &config.Generator{Name: "b"}}
		open.state.Store(&state{ends: []func(context.Context) error{func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}})
		other := &member{Generator: &config.Generator{Name: "c"}}
		other.state.Store(open.state.Load())
		s, hangs := &Set{members: []*member{m, open, other}, stop: func() {}}, make(chan struct{})
		s.starts.Go(func() { <-hangs })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		need.Error(t, s.await(ctx, nil), context.DeadlineExceeded)
		need.Error(t, s.Close(ctx), context.DeadlineExceeded, `generator "b", "c": `)
		if took := time.Since(began); took != time.Second {
			t.Errorf("Open and Close take %v", took)
		}
		close(hangs)
	})
}

// A generator that can never start is tried once. Any other is tried again, at pauses of up to 30
// seconds and what the backoff adds, until it starts.
func TestTriesAgain(t *testing.T) {
	run := func(text string, cause error) (log string, took time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			var lines logged.Text
			c, err := config.Parse([]byte(text), config.Flags{})
			need.Must(t, err)
			m := &member{Generator: &c.Generators[0], logger: lines.Logger()}
			m.state.Store(&state{err: fmt.Errorf("at db: %w", cause)})
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			began, s := time.Now(), new(Set)
			s.keepStarting(ctx, m, c)
			log, took = lines.String(), time.Since(began)
			need.Must(t, m.state.Load().close(t.Context()))
		})
		return log, took
	}
	const good = "generators: [{name: a, kind: slots, worker: \"static:1\", layout: \"31/23/9,epoch=1999-01-01\"}]"
	if log, took := run(good, uid.ErrConfig); took != 0 || !strings.Contains(log, "until the server is restarted") || strings.Contains(log, "attempts=") {
		t.Errorf("after %v: %s", took, log)
	}
	for _, cause := range []error{uid.ErrTimeExhausted, uid.ErrUnavailable, uid.ErrRewound, lease.ErrHeld, lease.ErrExhausted, lease.ErrSkew, segment.ErrUnknownTag, segment.ErrUsedUp, errors.New("x")} {
		if log, took := run(good, cause); took == 0 || took > time.Second || !strings.Contains(log, "the generator has started\" attempts=2") {
			t.Errorf("%v after %v: %s", cause, took, log)
		}
	}
	missing := "stores: [{name: file, url: " + t.TempDir() + "/none/ids.db}]\ngenerators: [{name: a, kind: segment, store: file}]"
	if log, took := run(missing, uid.ErrUnavailable); took != time.Hour || strings.Count(log, "has not started") < 3600/45 {
		t.Errorf("%d attempts in %v", strings.Count(log, "has not started"), took)
	}
}
