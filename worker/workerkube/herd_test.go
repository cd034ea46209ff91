//go:build linux

package workerkube_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	pathpkg "path"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	authorization "k8s.io/api/authorization/v1"
	coordination "k8s.io/api/coordination/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	"github.com/uidring/uidring/worker/internal/holding"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workerkube"
)

// fake is an API server in memory, for herds in virtual time. It serves one request after the
// other, each for a millisecond.
type fake struct {
	once     sync.Once
	busy     chan struct{} // holds an element while a request is served
	objects  map[string]*coordination.Lease
	version  int
	requests atomic.Int64
}

// open is a Store of the fake, with a client of its own.
func (f *fake) open(c rest.Config) *workerkube.Store {
	c.Host, c.Transport = "http://fake", transport(f.serve)
	return workerkube.NewStore(&c, workerkube.Config{Namespace: "orders", Prefix: "ids"})
}

func (f *fake) serve(r *http.Request) (*http.Response, error) {
	f.requests.Add(1)
	f.once.Do(func() { f.busy = make(chan struct{}, 1) })
	f.busy <- struct{}{}
	defer func() { <-f.busy }()
	time.Sleep(time.Millisecond)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	code, answer := f.answer(r)
	body, err := json.Marshal(answer)
	header := http.Header{"Content-Type": {"application/json"}, "Date": {time.Now().UTC().Format(http.TimeFormat)}}
	return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, err
}

func (f *fake) answer(r *http.Request) (int, any) {
	refuse := func(code int, reason meta.StatusReason) (int, any) {
		return code, meta.Status{Status: meta.StatusFailure, Reason: reason, Code: int32(code)}
	}
	o, before := new(coordination.Lease), f.objects[pathpkg.Base(r.URL.Path)]
	if r.Body != nil {
		_ = json.NewDecoder(r.Body).Decode(o)
	}
	switch {
	case pathpkg.Base(r.URL.Path) == "selfsubjectrulesreviews":
		return http.StatusCreated, authorization.SelfSubjectRulesReview{Status: authorization.SubjectRulesReviewStatus{Incomplete: true}}
	case r.Method == http.MethodGet && pathpkg.Base(r.URL.Path) == "leases":
		selector, _ := labels.Parse(r.URL.Query().Get("labelSelector"))
		list := coordination.LeaseList{}
		for _, o := range f.objects {
			if selector.Matches(labels.Set(o.Labels)) {
				list.Items = append(list.Items, *o)
			}
		}
		return http.StatusOK, list
	case r.Method == http.MethodPost && f.objects[o.Name] != nil:
		return refuse(http.StatusConflict, meta.StatusReasonAlreadyExists)
	case r.Method != http.MethodPost && before == nil:
		return refuse(http.StatusNotFound, meta.StatusReasonNotFound)
	case r.Method == http.MethodGet:
		return http.StatusOK, before
	case r.Method == http.MethodPut && before.ResourceVersion != o.ResourceVersion:
		return refuse(http.StatusConflict, meta.StatusReasonConflict)
	}
	f.version++
	now := meta.Now()
	o.ResourceVersion, o.ManagedFields = strconv.Itoa(f.version), []meta.ManagedFieldsEntry{{Manager: "uidring", Time: &now}}
	if f.objects == nil {
		f.objects = map[string]*coordination.Lease{}
	}
	f.objects[o.Name] = o
	return http.StatusOK, o
}

// fleet is holders whose API server is a fake.
type fleet struct {
	*testing.T
	fake
	expiry  time.Duration
	holders []*holding.Holder
	most    int64 // the greatest number
}

// start starts n holders at the same time. It returns how long the last took, and how many
// requests each sent.
func (f *fleet) start(n int, store func() lease.Store) (last time.Duration, each float64) {
	f.Helper()
	began, before := time.Now(), f.requests.Load()
	holders := make([]*holding.Holder, n)
	var starting sync.WaitGroup
	for i := range holders {
		starting.Go(func() {
			var err error
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
			defer cancel()
			holders[i], err = holding.Try(ctx, f, leaser(store(), lease.Config{Expiry: f.expiry}), 1<<20, time.Now)
			if err != nil {
				f.Error(err)
			}
		})
	}
	starting.Wait()
	if f.Failed() {
		f.FailNow()
	}
	last, each = time.Since(began), float64(f.requests.Load()-before)/float64(n)
	seen := map[int64]bool{}
	for f.holders = append(f.holders, holders...); len(holders) > 0; holders = holders[1:] {
		number := holders[0].Last().Number
		if seen[number] {
			f.Errorf("number %d is held twice", number)
		}
		seen[number], f.most = true, max(f.most, number)
	}
	return last, each
}

// stop stops all holders.
func (f *fleet) stop() {
	var stopping sync.WaitGroup
	for _, h := range f.holders {
		stopping.Go(func() { must(f, h.Release(context.Background(), time.Now())) })
	}
	stopping.Wait()
	f.holders = nil
}

// own returns the Store of another process, whose client has no limit.
func (f *fleet) own() lease.Store { return f.open(rest.Config{QPS: -1}) }

// Many processes that start at the same time all have a number soon, on an API server that serves
// 1,000 requests a second. If all restart, they use nearly the same numbers.
func TestHerd(t *testing.T) {
	for _, test := range []struct {
		starts, restarts int
		within           time.Duration
		each             float64 // requests; a start alone sends 6
	}{
		{50, 10, 12 * time.Second, 9},
		{1000, 1, 40 * time.Second, 18},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &fleet{T: t, expiry: 10 * time.Minute}
			_, alone := f.start(1, f.own)
			last, each := f.start(test.starts, f.own)
			t.Logf("%d first starts: %.1f requests each, %.1f alone, the last after %v", test.starts, each, alone, last)
			if alone > 8 || each > test.each || last > test.within {
				t.Errorf("want %.1f requests each, and the last after %v", test.each, test.within)
			}
			for range test.restarts {
				f.stop()
				if last, each = f.start(test.starts, f.own); each > 1.5*6 || last > test.within {
					t.Errorf("restarted: %.1f requests each, the last after %v", each, last)
				}
			}
			f.stop()
			if used := float64(f.most+1) / float64(test.starts); used > 1.1 {
				t.Errorf("%.2f numbers used for each that is held; want 1.1", used)
			}
		})
	}
}

// Many generators share a Store whose client has the default rate: all start, and the limit
// holds.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fleet{T: t, expiry: time.Minute}
		store, began := f.open(rest.Config{}), time.Now()
		last, each := f.start(300, func() lease.Store { return store })
		t.Logf("the last after %v, %.1f requests each", last, each)
		if allowed := 10 + 5*time.Since(began).Seconds(); float64(f.requests.Load()) > 1.1*allowed {
			t.Errorf("%d requests; want %.0f", f.requests.Load(), allowed)
		}
		f.stop()
	})
}
