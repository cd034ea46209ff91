//go:build linux

package workerkube_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
	"github.com/uidring/uidring/worker/workerkube"
)

// sender sends a request to the API server.
type sender func(*http.Request) (*http.Response, error)

// faults stands between a Store and the API server.
type faults struct {
	mu   sync.Mutex
	make func(r *http.Request, send sender) (*http.Response, error) // nil means without a fault
}

func (f *faults) set(fault func(r *http.Request, send sender) (*http.Response, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.make = fault
}

// in gives the faults to the requests of a config.
func (f *faults) in(c *rest.Config) {
	c.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return wrapper{next, transport(func(r *http.Request) (*http.Response, error) {
			f.mu.Lock()
			fault := f.make
			f.mu.Unlock()
			if fault == nil {
				return next.RoundTrip(r)
			}
			return fault(r, next.RoundTrip)
		})}
	})
}

// wrapper is a transport that lets its idle connections be closed.
type wrapper struct {
	next http.RoundTripper
	transport
}

func (w wrapper) WrappedRoundTripper() http.RoundTripper { return w.next }

type transport sender

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// status is what an API server answers that refuses a request. A negative retry sends no
// Retry-After.
func status(r *http.Request, code int, reason meta.StatusReason, retry int) *http.Response {
	body, _ := json.Marshal(meta.Status{
		TypeMeta: meta.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: meta.StatusFailure, Reason: reason, Code: int32(code), Message: "the test says so",
	})
	header := http.Header{"Content-Type": {"application/json"}, "Date": {time.Now().UTC().Format(http.TimeFormat)}}
	if retry >= 0 {
		header.Set("Retry-After", strconv.Itoa(retry))
	}
	return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: r, ProtoMajor: 1, ProtoMinor: 1}
}

var errCut = errors.New("the connection was cut")

// anyFault does to a request what a bad network or a busy API server does: the request or
// its answer is lost or late, or an error answers, before or after the request was done.
func anyFault(r *http.Request, send sender) (*http.Response, error) {
	refuse := func(which int) *http.Response {
		return []*http.Response{
			status(r, http.StatusTooManyRequests, meta.StatusReasonTooManyRequests, 0),
			status(r, http.StatusServiceUnavailable, meta.StatusReasonServiceUnavailable, 0),
			status(r, http.StatusInternalServerError, meta.StatusReasonServerTimeout, 0),
			status(r, http.StatusGatewayTimeout, meta.StatusReasonTimeout, -1),
			status(r, http.StatusForbidden, meta.StatusReasonForbidden, -1),
		}[which]
	}
	switch rand.IntN(24) {
	case 0:
		return nil, errCut
	case 1, 2: // done, and the answer is lost
		if response, err := send(r); err == nil {
			response.Body.Close()
		}
		return nil, errCut
	case 3, 4: // done, and an error answers; the client repeats some of these
		response, err := send(r)
		if err != nil {
			return nil, err
		}
		response.Body.Close()
		return refuse(1 + rand.IntN(3)), nil
	case 5, 6:
		return refuse(rand.IntN(5)), nil
	case 7:
		time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
	}
	return send(r)
}

// A connection that leads to an API server which fails, or says nothing, is closed: the next may lead elsewhere.
func TestConnectionIsReplaced(t *testing.T) {
	for name, answer := range map[string]func(r *http.Request) (*http.Response, error){
		"fails": func(r *http.Request) (*http.Response, error) {
			return status(r, http.StatusInternalServerError, meta.StatusReasonInternalError, -1), nil
		},
		"says nothing": func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() },
	} {
		t.Run(name, func(t *testing.T) {
			store, _, f := opened(t)
			h := take(t, store, lease.Config{Expiry: 4 * time.Second, Window: time.Hour})
			bad, used := "", ""
			trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { used = info.Conn.LocalAddr().String() }}
			f.set(func(r *http.Request, send sender) (*http.Response, error) {
				probe, err := http.NewRequestWithContext(httptrace.WithClientTrace(r.Context(), trace), http.MethodGet, "https://"+r.URL.Host+"/readyz", nil)
				must(t, err)
				probe.Header.Set("Authorization", r.Header.Get("Authorization")) // without it, the API server ends the connection
				response, err := send(probe)
				if err != nil {
					return nil, err
				}
				_, _ = io.Copy(io.Discard, response.Body) // so that the connection can be used again
				response.Body.Close()
				if bad = cmp.Or(bad, used); used == bad {
					return answer(r)
				}
				return send(r)
			})
			h.Renew(t)
			h.Kept(t)
			must(t, h.Release(t.Context(), time.Now()))
		})
	}
}

// A history of requests is linearizable, whatever happens to them.
func TestFaultsLinearizable(t *testing.T) {
	n, opens := namespace(t, server(t)), 0
	leasetest.Linearizable(t, func(t *testing.T) leasestore.Store {
		f := &faults{}
		if opens++; opens <= 5 { // the last one reads in the end, and has to succeed
			f.set(anyFault)
		}
		return open(t, n, servertest.KubeAdmin, f)
	})
	if opens != 6 {
		t.Errorf("%d stores; want five and one that reads in the end", opens)
	}
}

// A write that was done, and whose answer was lost, is done: its repetition by the client
// conflicts with itself, and the token says who was first.
func TestRepeated(t *testing.T) {
	store, n, f := opened(t)
	for _, step := range []func(ctx context.Context) (bool, error){
		func(ctx context.Context) (bool, error) {
			_, done, err := store.Insert(ctx, holdertest.Fresh("a"))
			return done, err
		},
		func(ctx context.Context) (bool, error) { return store.Swap(ctx, "a", holdertest.Write(0, "b")) },
		func(ctx context.Context) (bool, error) { return store.Swap(ctx, "b", holdertest.Write(0, "c")) },
	} {
		seen := map[string]bool{}
		f.set(func(r *http.Request, send sender) (*http.Response, error) {
			response, err := send(r)
			if what := r.Method + r.URL.Path; err == nil && r.Method != http.MethodGet && !seen[what] { // the count of given numbers too
				seen[what] = true
				response.Body.Close()
				return status(r, http.StatusInternalServerError, meta.StatusReasonServerTimeout, 0), nil
			}
			return response, err
		})
		if done, err := step(t.Context()); !done || err != nil || len(seen) == 0 {
			t.Errorf("%t, %v after %d repetitions; want it done", done, err, len(seen))
		}
	}
	f.set(nil)
	if row, _, err := store.Read(t.Context(), 0, time.Hour); err != nil || row == nil || row.Token != "c" {
		t.Errorf("%+v, %v", row, err)
	}

	// If another has written since, nobody knows.
	other := open(t, n, servertest.KubeAdmin)
	first := true
	f.set(func(r *http.Request, send sender) (*http.Response, error) {
		response, err := send(r)
		if err == nil && r.Method == http.MethodPut && first {
			first = false
			holdertest.Swaps(t, other, "d", holdertest.Write(0, "e"), true)
			response.Body.Close()
			return status(r, http.StatusServiceUnavailable, meta.StatusReasonServiceUnavailable, 0), nil
		}
		return response, err
	})
	if done, err := store.Swap(t.Context(), "c", holdertest.Write(0, "d")); done || err == nil {
		t.Errorf("%t, %v; want an error", done, err)
	}
}

// A list in pages is of the instant of the first: its clock counts.
func TestClockOfPages(t *testing.T) {
	workerkube.SetPage(t, 1)
	store, _, f := opened(t)
	holdertest.Inserts(t, store, holdertest.Write(0, "a"), 0)
	holdertest.Inserts(t, store, holdertest.Write(1, "b"), 1)
	began, pages := time.Now().Truncate(time.Second), 0
	f.set(func(r *http.Request, send sender) (*http.Response, error) {
		response, err := send(r)
		if err == nil && strings.HasSuffix(r.URL.Path, "/leases") { // which lists
			response.Header.Set("Date", began.Add(time.Duration(pages)*time.Hour).UTC().Format(http.TimeFormat))
			pages++
		}
		return response, err
	})
	view, err := store.Look(t.Context(), leasestore.Range{To: 9}, true, time.Minute)
	if want := began.UnixMilli() + 999; err != nil || view.Now != want || view.Held != 2 || pages < 3 {
		t.Errorf("%+v, %v of %d pages; want two holders at %d", view, err, pages, want)
	}
}

// A renewal that is refused, whatever the reason, costs its holder neither its number nor
// ids: the next one renews.
func TestRefusedRenewals(t *testing.T) {
	store, _, f := opened(t)
	h := take(t, store, lease.Config{Expiry: time.Hour, Window: time.Hour})
	for code, reason := range map[int]meta.StatusReason{
		http.StatusForbidden: meta.StatusReasonForbidden, http.StatusConflict: meta.StatusReasonConflict, http.StatusGone: meta.StatusReasonExpired,
		http.StatusTooManyRequests: meta.StatusReasonTooManyRequests, http.StatusInternalServerError: meta.StatusReasonInternalError,
		http.StatusBadGateway: "", http.StatusServiceUnavailable: meta.StatusReasonServiceUnavailable, http.StatusGatewayTimeout: meta.StatusReasonTimeout,
	} {
		until := h.Last().Until
		f.set(func(r *http.Request, send sender) (*http.Response, error) {
			if r.Method == http.MethodGet {
				return send(r)
			}
			return status(r, code, reason, -1), nil
		})
		h.Use(until, until)
		h.Await(t, strconv.Itoa(code)+" is noticed", func(g lease.Grant) bool { return g.Err != nil && g.Until.Equal(until) })
		f.set(nil)
		h.Renew(t)
	}
	h.Kept(t)
}
