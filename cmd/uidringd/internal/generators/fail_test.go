package generators

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/uid"
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
		m := &member{name: "a"}
		m.state.Store(&state{err: service.ErrStarting})
		open := &member{name: "b", required: true}
		open.state.Store(&state{ends: []func(context.Context) error{func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}})
		s, hangs := &Set{members: []*member{m, open}, stop: func() {}}, make(chan struct{})
		s.starts.Go(func() { <-hangs })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := s.await(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Open: %v", err)
		}
		if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), `generator "b": `) || time.Since(began) != time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		close(hangs)
	})
}
