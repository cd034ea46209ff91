//go:build linux

package workerkube_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
	"github.com/uidring/uidring/worker/workerkube"
)

func TestSuite(t *testing.T) {
	k := server(t)
	n := namespace(t, k)
	var requests sync.Map // by prefix
	prefixOf := func(s leasestore.Store) string { return s.String()[strings.LastIndexByte(s.String(), '/')+1:] }
	leasetest.Suite{
		Expiry: 2 * time.Second, // the API server's times are cut to the second
		Open: func(t *testing.T) leasetest.Opener {
			prefix, count := name(), new(atomic.Int64)
			requests.Store(prefix, count)
			return func(t *testing.T) leasestore.Store {
				c := config(t, k, servertest.KubeAdmin)
				c.Wrap(func(next http.RoundTripper) http.RoundTripper {
					return transport(func(r *http.Request) (*http.Response, error) {
						count.Add(1)
						return next.RoundTrip(r)
					})
				})
				return workerkube.NewStore(c, workerkube.Config{Namespace: n, Prefix: prefix})
			}
		},
		Delete: func(t *testing.T, s leasestore.Store, number int64) {
			server(t).Must(t, http.MethodDelete, path(n, fmt.Sprint(prefixOf(s), ".", number)), "")
		},
		Requests: func(t *testing.T, s leasestore.Store) int64 {
			count, _ := requests.Load(prefixOf(s))
			return count.(*atomic.Int64).Load()
		},
	}.Run(t)
}

// Fleets with prefixes of their own share a namespace: each has the number 0.
func TestPrefixes(t *testing.T) {
	k := server(t)
	n, c := namespace(t, k), config(t, k, servertest.KubeAdmin)
	for _, prefix := range []string{"ids", "ids-given", "given"} {
		holdertest.Inserts(t, workerkube.NewStore(c, workerkube.Config{Namespace: n, Prefix: prefix}), holdertest.Fresh("a"), 0)
	}
}

// The shortest and the longest expiry of a lease are ones that the API server takes.
func TestExpiries(t *testing.T) {
	store, _, _ := opened(t)
	for number, expiry := range []time.Duration{100 * time.Millisecond, 365 * 24 * time.Hour} {
		w := holdertest.Write(int64(number), "a")
		w.Expiry = expiry
		holdertest.Inserts(t, store, w, w.Number)
	}
}

// People see a number's holder where they look for that of any Lease.
func TestObject(t *testing.T) {
	store, n, _ := opened(t)
	h := take(t, store)
	object := fmt.Sprint("ids.", h.Last().Number)
	read := func() (o struct {
		Metadata struct{ Labels map[string]string }
		Spec     struct {
			HolderIdentity         string
			LeaseDurationSeconds   int
			AcquireTime, RenewTime time.Time
		}
	}) {
		must(t, json.Unmarshal([]byte(server(t).Must(t, http.MethodGet, path(n, object), "")), &o))
		return o
	}
	o := read()
	if o.Metadata.Labels["uidring/prefix"] != "ids" || o.Spec.HolderIdentity != "billing-7:8080" || o.Spec.LeaseDurationSeconds != 2 ||
		o.Spec.AcquireTime.IsZero() || o.Spec.RenewTime.IsZero() {
		t.Errorf("%+v", o)
	}
	h.Renew(t)
	if again := read(); !again.Spec.AcquireTime.Equal(o.Spec.AcquireTime) || again.Spec.RenewTime.Before(o.Spec.RenewTime) {
		t.Errorf("renewed %+v; was %+v", again, o)
	}
	must(t, h.Release(t.Context(), time.Now()))
	if o := read(); o.Spec.HolderIdentity != "" || !o.Spec.RenewTime.IsZero() {
		t.Errorf("%+v; want no holder", o)
	}
}

// A write looks alive for its expiry and never less, though its time is cut to the second:
// a holder that writes in time keeps its number. What others write is not a heartbeat.
func TestLiveness(t *testing.T) {
	store, n, _ := opened(t)
	const expiry = 2 * time.Second
	before := time.Now()
	holdertest.Inserts(t, store, holdertest.Write(0, "a"), 0)
	began := time.Now() // on a slow disk, long after the time in the row
	servertest.Eventually(t, "it expires", func() bool {
		must(t, server(t).Patch(path(n, "ids.0"), fmt.Sprintf(`{"metadata":{"annotations":{"note":"%v"}}}`, time.Now())))
		asked := time.Since(began)
		row, now, err := store.Read(t.Context(), 0, expiry)
		must(t, err)
		switch {
		case row.State == leasestore.StateExpired && time.Since(before) < expiry:
			t.Fatalf("expired after %v", time.Since(before))
		case row.State == leasestore.StateHeld && asked > expiry+3*time.Second:
			t.Fatalf("alive after %v", asked)
		case row.Heartbeat == 0 || row.Created == 0 || row.Heartbeat > now || time.Since(time.UnixMilli(now)).Abs() > time.Minute:
			t.Fatalf("%+v at %d", row, now)
		}
		return row.State == leasestore.StateExpired
	})
}

// Who edits an object but not its row costs its holder nothing.
func TestEdited(t *testing.T) {
	store, n, _ := opened(t)
	h := take(t, store)
	own := fmt.Sprint("ids.", h.Last().Number)
	holdertest.Inserts(t, store, holdertest.Write(7, "0"), 7)
	for i := range 3 {
		for _, object := range []string{own, "ids.7"} {
			must(t, server(t).Patch(path(n, object), fmt.Sprintf(`{"metadata":{"annotations":{"note":"%d"}}}`, i)))
		}
		h.Renew(t)
		holdertest.Swaps(t, store, fmt.Sprint(i), holdertest.Write(7, fmt.Sprint(i+1)), true)
	}
	h.Kept(t)
	for _, object := range []string{own, "ids.7"} {
		if text := server(t).Must(t, http.MethodGet, path(n, object), ""); !strings.Contains(text, `"note":"2"`) {
			t.Errorf("%s: the note is lost", text)
		}
	}
}

// Values that nobody of the package wrote are errors that name the object.
func TestForeign(t *testing.T) {
	store, n, _ := opened(t)
	holdertest.Inserts(t, store, holdertest.Write(0, "a"), 0)
	for _, value := range []string{"", "{}", "7", `{"token":"a","reserved_until":"x"}`} {
		must(t, server(t).Patch(path(n, "ids.0"), fmt.Sprintf(`{"metadata":{"annotations":{"uidring/value":%q}}}`, value)))
		_, _, read := store.Read(t.Context(), 0, time.Hour)
		_, look := store.Look(t.Context(), leasestore.Range{To: 1023}, true, time.Hour)
		for _, err := range []error{read, look} {
			need.Error(t, err, nil, n+"/ids.0", "annotation uidring/value", "want a row as JSON")
		}
	}
	server(t).Must(t, http.MethodDelete, path(n, "ids.0"), "")
	server(t).Must(t, http.MethodPost, path(n), "{metadata: {name: ids.seven, labels: {uidring/prefix: ids}}}")
	if rows, err := store.List(t.Context(), 0, time.Hour); err != nil || len(rows) > 0 {
		t.Errorf("%v, %v; want that other names are left alone", rows, err)
	}
	must(t, server(t).Patch(path(n, "ids.given"), `{"metadata":{"annotations":{"uidring/value":"many"}}}`))
	need.Error(t, start(t, store), nil, n+"/ids.given", "many", "want a record of given numbers as JSON")
}

func TestBadInput(t *testing.T) {
	good := &rest.Config{Host: "https://127.0.0.1:1"}
	bad := &rest.Config{Host: "https://127.0.0.1:1", TLSClientConfig: rest.TLSClientConfig{CAFile: "/none"}}
	for _, test := range []struct {
		config            *rest.Config
		namespace, prefix string
		want              []string
	}{
		{bad, "orders", "ids", []string{"cluster:", "/none"}},
		{good, "", "ids", []string{"Namespace: empty means", "/var/run/secrets"}},
		{good, "orders", "ids.given", []string{`Prefix: "ids.given"`}},
		{nil, "a/b", "-", []string{"workerkube: invalid config: cluster: nil", `Namespace: "a/b"`, `Prefix: "-"`}},
	} {
		config := workerkube.Config{Namespace: test.namespace, Prefix: test.prefix}
		err := workerkube.NewStore(test.config, config).Check()
		need.Error(t, err, lease.ErrConfig, test.want...)
		if wrong := config.Validate(); errors.Is(wrong, lease.ErrConfig) != (test.prefix != "ids") {
			t.Errorf("%+v: %v", config, wrong)
		}
	}
	_, err := workerkube.NewLeaser(nil, lease.Config{}).Leases(t.Context(), 0)
	need.Error(t, err, lease.ErrConfig, "cluster: nil", "Namespace: empty means")
}

// An API server that refuses connections is the client's error at once, with the store.
func TestUnavailable(t *testing.T) {
	err := start(t, workerkube.NewStore(&rest.Config{Host: "http://" + servertest.Addresses(t, 1)[0]}, workerkube.Config{Namespace: "orders", Prefix: "ids"}))
	need.Error(t, err, nil, "lease: prepare kubernetes orders/ids: ", "connection refused")
}
