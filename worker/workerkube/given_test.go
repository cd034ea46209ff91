//go:build linux

package workerkube_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// unlimited is a client without a limit.
var unlimited = rest.Config{QPS: -1}

// creates reports whether a request creates the row of a number.
func creates(r *http.Request) bool {
	if r.Method != http.MethodPost || r.GetBody == nil {
		return false
	}
	body, _ := r.GetBody()
	defer body.Close()
	text, _ := io.ReadAll(body)
	return strings.Contains(string(text), `"name":"ids.1"`)
}

// A number is put back only if the API server refused its row for certain, even if nobody waits for
// the row any more.
func TestRefusedCreate(t *testing.T) {
	var leave context.CancelFunc
	lost := func(r *http.Request, send sender) (*http.Response, error) { return nil, errCut }
	refused := func(r *http.Request, _ sender) (*http.Response, error) {
		return status(r, http.StatusForbidden, meta.StatusReasonForbidden, -1), nil
	}
	for name, test := range map[string]struct {
		first, second func(r *http.Request, send sender) (*http.Response, error)
		next          int64 // that is new then
	}{
		"refused": {refused, nil, 1},
		"conflict of a quota": {func(r *http.Request, _ sender) (*http.Response, error) {
			return status(r, http.StatusConflict, meta.StatusReasonConflict, -1), nil
		}, nil, 1},
		"refused when nobody waits": {func(r *http.Request, send sender) (*http.Response, error) {
			leave()
			<-r.Context().Done()
			return refused(r, send)
		}, nil, 1},
		"no answer": {lost, nil, 2},
		"timed out in a proxy": {func(r *http.Request, _ sender) (*http.Response, error) {
			return status(r, http.StatusRequestTimeout, meta.StatusReasonTimeout, -1), nil
		}, nil, 2},
		"throttled, then refused": {func(r *http.Request, _ sender) (*http.Response, error) {
			return status(r, http.StatusTooManyRequests, meta.StatusReasonTooManyRequests, 0), nil
		}, refused, 2},
		"done, no answer, then refused": {func(r *http.Request, send sender) (*http.Response, error) {
			if response, err := send(r); err == nil {
				response.Body.Close()
			}
			return status(r, http.StatusInternalServerError, meta.StatusReasonServerTimeout, 0), nil
		}, refused, 2},
	} {
		t.Run(name, func(t *testing.T) {
			api, f := new(fake), new(faults)
			store, other := api.open(unlimited, f), api.open(unlimited)
			holdertest.Inserts(t, store, holdertest.Fresh("a"), 0)
			next := test.first
			f.set(func(r *http.Request, send sender) (*http.Response, error) {
				if fault := next; creates(r) && fault != nil {
					next = test.second
					return fault(r, send)
				}
				return send(r)
			})
			var ctx context.Context
			ctx, leave = context.WithCancel(t.Context())
			if _, done, err := store.Insert(ctx, holdertest.Fresh("b")); done || err == nil {
				t.Errorf("%t, %v; want an error", done, err)
			}
			servertest.Eventually(t, fmt.Sprintf("%d is the next number", test.next), func() bool {
				view, err := other.Look(t.Context(), leasestore.Range{To: 1023}, false, 0)
				return err == nil && view.Next == test.next
			})
			holdertest.Inserts(t, other, holdertest.Fresh("c"), test.next)
			holdertest.Inserts(t, other, holdertest.Fresh("d"), test.next+1)
		})
	}
}

// A row is in the record before it exists: if its process ends then, and the row is deleted after
// another had it, the number is not given as new.
func TestRecordComesFirst(t *testing.T) {
	api, f := new(fake), new(faults)
	store, other := api.open(unlimited, f), api.open(unlimited)
	ended := errors.New("the process ended")
	f.set(func(r *http.Request, send sender) (*http.Response, error) {
		response, err := send(r)
		if r.Method == http.MethodPost && api.objects["ids.0"] != nil {
			response.Body.Close()
			f.set(func(*http.Request, sender) (*http.Response, error) { return nil, ended })
			return nil, ended
		}
		return response, err
	})
	if _, done, err := store.Insert(t.Context(), holdertest.Fresh("a")); done || !errors.Is(err, ended) {
		t.Errorf("%t, %v", done, err)
	}
	holdertest.Swaps(t, other, "a", holdertest.Write(0, "b"), true)
	delete(api.objects, "ids.0")
	holdertest.Swaps(t, other, "b", holdertest.Write(0, "c"), false) // nobody has the row
	holdertest.Inserts(t, other, holdertest.Fresh("d"), 1)
}

// What the record does not know, one list finds: rows that an Assigner chose, and all rows after
// the record was lost, or became that of an older copy.
func TestRecordIsCompleted(t *testing.T) {
	api := new(fake)
	store := api.open(unlimited)
	for n := range int64(20) {
		holdertest.Inserts(t, store, holdertest.Fresh(fmt.Sprint("t", n)), n)
	}
	delete(api.objects, "ids.given")
	before := api.requests.Load()
	holdertest.Inserts(t, store, holdertest.Fresh("a"), 20)
	for n := range 10 {
		o := api.objects["ids.20"].DeepCopy()
		o.Name = fmt.Sprint("ids.", 21+n)
		api.objects[o.Name] = o
	}
	holdertest.Inserts(t, store, holdertest.Fresh("b"), 31)
	if sent := api.requests.Load() - before; sent > 4+9 {
		t.Errorf("%d requests; want 4, and then 9", sent)
	}
	for _, number := range []int64{0, 40} { // 0 is where the range begins, too
		w := holdertest.Write(number, "c")
		w.Within = leasestore.Range{From: number, To: number}
		delete(api.objects, fmt.Sprint("ids.", number))
		holdertest.Inserts(t, store, w, number)
		delete(api.objects, fmt.Sprint("ids.", number)) // and was given, all the same
	}
	holdertest.Inserts(t, store, holdertest.Fresh("d"), 41)
	api.objects = nil
	first := holdertest.Write(0, "e")
	first.Within = leasestore.Range{}
	holdertest.Inserts(t, store, first, 0)
	holdertest.Inserts(t, store, holdertest.Fresh("f"), 1)
}

// A number that an Assigner had while its owner's create was refused is not new any more.
func TestPutBackAssigned(t *testing.T) {
	api, f := new(fake), new(faults)
	store, other := api.open(unlimited, f), api.open(unlimited)
	holdertest.Inserts(t, store, holdertest.Fresh("a"), 0)
	f.set(func(r *http.Request, send sender) (*http.Response, error) {
		if !creates(r) {
			return send(r)
		}
		w := holdertest.Write(1, "b")
		w.Within = leasestore.Range{From: 1, To: 1}
		holdertest.Inserts(t, other, w, 1)
		delete(api.objects, "ids.1")
		return status(r, http.StatusForbidden, meta.StatusReasonForbidden, -1), nil
	})
	if _, done, err := store.Insert(t.Context(), holdertest.Fresh("c")); done || err == nil {
		t.Errorf("%t, %v; want an error", done, err)
	}
	holdertest.Inserts(t, other, holdertest.Fresh("d"), 2)
}

// A quota that several creates change at once refuses some: a start tries again, and an assigned
// number has no row without its mark.
func TestQuotaConflict(t *testing.T) {
	for _, config := range []lease.Config{{}, {Assigner: lease.NewStatic(0)}} {
		api, f := new(fake), new(faults)
		refused := false
		f.set(func(r *http.Request, send sender) (*http.Response, error) {
			if r.Method == http.MethodPost && api.objects["ids.given"] != nil && !refused {
				refused = true
				return status(r, http.StatusConflict, meta.StatusReasonConflict, -1), nil
			}
			return send(r)
		})
		config.Expiry = time.Minute
		if g := take(t, api.open(unlimited, f), config).Last(); g.Number != 0 || !refused {
			t.Errorf("%+v", g)
		}
		if config.Assigner != nil && api.objects["ids.given.0"] == nil {
			t.Error("the number has no mark")
		}
	}
}

// A write of the record that was sent twice counts only if it is known which was done.
func TestRecordSentTwice(t *testing.T) {
	for _, overwritten := range []bool{false, true} {
		api, f := new(fake), new(faults)
		store, other := api.open(unlimited, f), api.open(unlimited)
		holdertest.Inserts(t, store, holdertest.Fresh("a"), 0)
		f.set(func(r *http.Request, send sender) (*http.Response, error) {
			response, err := send(r)
			if r.Method != http.MethodPut {
				return response, err
			}
			f.set(nil)
			if overwritten {
				holdertest.Inserts(t, other, holdertest.Fresh("b"), 2)
			}
			response.Body.Close()
			return status(r, http.StatusInternalServerError, meta.StatusReasonServerTimeout, 0), nil
		})
		number, done, err := store.Insert(t.Context(), holdertest.Fresh("c"))
		if done == overwritten || (err != nil) != overwritten || done && number != 1 {
			t.Errorf("overwritten %t: number %d, %t, %v", overwritten, number, done, err)
		}
	}
}

// An assigned number whose object was deleted is taken again, by a client that may send one request
// at a time too.
func TestAssignedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api, config := new(fake), lease.Config{Assigner: lease.NewStatic(0), Expiry: time.Minute}
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			h, err := holdertest.Try(ctx, t, leaser(api.open(rest.Config{QPS: 1, Burst: 1}), config), 1023, time.Now)
			must(t, err)
			cancel()
			h.Kill()
			delete(api.objects, "ids.0")
		}
	})
}
