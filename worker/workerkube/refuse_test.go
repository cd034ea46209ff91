//go:build linux

package workerkube_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/uidring/uidring/internal/test/lifecycle"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/workerkube"
)

// grant lets a user do what rules allow in a namespace.
func grant(t *testing.T, namespace, user, rules string) {
	t.Helper()
	rbac := "/apis/rbac.authorization.k8s.io/v1/namespaces/" + namespace
	server(t).Must(t, http.MethodPost, rbac+"/roles", "{metadata: {name: "+user+"}, rules: "+rules+"}")
	server(t).Must(t, http.MethodPost, rbac+"/rolebindings", "{metadata: {name: "+user+"}, subjects: [{kind: User, name: "+user+"}], roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: "+user+"}}")
}

// reads waits until a store may read: a Role has an effect after a while.
func reads(t *testing.T, store leasestore.Store) {
	t.Helper()
	servertest.Eventually(t, "the Role has an effect", func() bool {
		_, _, err := store.Read(t.Context(), 0, time.Minute)
		return err == nil
	})
}

// A start names every right that its user lacks, and the rule that gives them. With that
// rule and no other, a user can do all that a service does.
func TestRights(t *testing.T) {
	n := namespace(t, server(t))
	store := open(t, n, "alice")
	const rule = workerkube.Rule
	for _, page := range []string{"doc.go", "../../cmd/uidringd/deploy/kubernetes/application.yaml"} {
		if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "- "+rule+"\n") {
			t.Errorf("%s has another rule, %v", page, err)
		}
	}
	err := start(t, store)
	need.Error(t, err, workerkube.ErrRights, "get, list, create, update of leases.coordination.k8s.io", `namespace "`+n+`"`, "a Role there with the rule "+rule)
	_, _, read := store.Read(t.Context(), 0, time.Minute)
	_, _, insert := store.Insert(t.Context(), holdertest.Write(0, "a"))
	_, layout := store.SwapLayout(t.Context(), "", leasestore.Terms{Layout: holdertest.Layout})
	for _, err := range []error{read, insert, layout} {
		need.Error(t, err, workerkube.ErrRights, "a permission is missing: get of leases.coordination.k8s.io", `User "alice" cannot get resource "leases"`, rule)
	}
	grant(t, n, "alice", "["+rule+"]")
	reads(t, store)
	lifecycle.Run(t, func(config lease.Config) *lease.Leaser { return lease.New(store, config) })

	n = namespace(t, server(t))
	grant(t, n, "bob", "[{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, list, create]}]")
	store = open(t, n, "bob")
	reads(t, store)
	err = start(t, store) // before it takes a number that it could not renew
	need.Error(t, err, workerkube.ErrRights, "a permission is missing: update of leases")
	if rows, err := store.List(t.Context(), 0, time.Minute); err != nil || len(rows) > 0 {
		t.Errorf("%v, %v; want no row", rows, err)
	}
	need.Error(t, start(t, open(t, n, "nobody")), nil, "the API server does not accept the credentials", "Unauthorized")
}

// If the API server cannot list all rights, a start asks for those that the list lacks.
func TestRightsIncomplete(t *testing.T) {
	api := &fake{limited: true}
	err := api.open(unlimited).Prepare(t.Context(), nil)
	if need.Error(t, err, workerkube.ErrRights, "a permission is missing: update of leases"); api.requests.Load() != 3 {
		t.Errorf("%d requests; want 3", api.requests.Load())
	}
}

func TestNamespace(t *testing.T) {
	n := name()
	for range 2 {
		err := start(t, open(t, n, servertest.KubeAdmin))
		need.Error(t, err, workerkube.ErrNamespace, "the namespace does not exist, or is being deleted", `"`+n+`"`)
		n = namespace(t, server(t)) // which stays as it is for want of a controller that empties it
		server(t).Must(t, http.MethodDelete, "/api/v1/namespaces/"+n, "")
	}
}

// A start that a quota prevents says so, and gives no number away.
func TestQuota(t *testing.T) {
	store, n, _ := opened(t)
	h := take(t, store, lease.Config{Expiry: time.Minute})
	_, err := store.SwapLayout(t.Context(), "", leasestore.Terms{Layout: holdertest.Layout}) // or a start ends there
	must(t, err)
	quotas := "/api/v1/namespaces/" + n + "/resourcequotas"
	server(t).Must(t, http.MethodPost, quotas, `{metadata: {name: few}, spec: {hard: {count/leases.coordination.k8s.io: "3"}}}`)
	full := `{"status":{"hard":{"count/leases.coordination.k8s.io":"3"},"used":{"count/leases.coordination.k8s.io":"3"}}}`
	must(t, server(t).Patch(quotas+"/few/status", full))
	servertest.Eventually(t, "the quota has an effect", func() bool {
		_, done, failed := store.Insert(t.Context(), holdertest.Write(900, "probe"))
		err = failed
		if done {
			server(t).Must(t, http.MethodDelete, path(n, "ids.900"), "")
		}
		return failed != nil && !apierrors.IsConflict(failed)
	})
	if need.Error(t, err, workerkube.ErrQuota, "the namespace's quota is used up", `"`+n+`"`, "exceeded quota: few"); errors.Is(err, workerkube.ErrRights) {
		t.Errorf("%v; want ErrQuota alone", err)
	}
	before, err := store.Look(t.Context(), leasestore.Range{To: 1 << 20}, true, time.Minute)
	must(t, err)
	for range 3 {
		need.Error(t, start(t, store), workerkube.ErrQuota)
	}
	after, err := store.Look(t.Context(), leasestore.Range{To: 1 << 20}, true, time.Minute)
	if err != nil || after.Next != before.Next {
		t.Errorf("%+v, %v; want %d to be the next number, as before", after, err, before.Next)
	}
	h.Renew(t) // a quota is about new objects
	h.Kept(t)
}

// Pages that have expired are listed anew.
func TestPages(t *testing.T) {
	workerkube.SetPage(t, 3)
	store, _, f := opened(t)
	for number := range int64(10) {
		holdertest.Inserts(t, store, holdertest.Write(number, fmt.Sprint("token ", number)), number)
	}
	listed := func() {
		t.Helper()
		rows, err := store.List(t.Context(), 0, time.Hour)
		must(t, err)
		for i, row := range rows {
			if row.Number != int64(9-i) {
				t.Errorf("%d rows, of them %+v at %d; want the numbers from 9 to 0", len(rows), row, i)
			}
		}
		if view, err := store.Look(t.Context(), leasestore.Range{To: 5}, true, time.Hour); err != nil || len(rows) != 10 || view.Held != 6 {
			t.Errorf("%d rows, %+v, %v; want 10, and 6 held in the half", len(rows), view, err)
		}
	}
	listed()
	pages := 0
	f.set(func(r *http.Request, send sender) (*http.Response, error) {
		if r.URL.Query().Get("continue") != "" {
			if pages++; pages == 2 {
				return status(r, http.StatusGone, meta.StatusReasonExpired, 0), nil
			}
		}
		return send(r)
	})
	listed()
	if pages < 2 {
		t.Errorf("%d more pages", pages)
	}
	expired := 0
	f.set(func(r *http.Request, send sender) (*http.Response, error) {
		if r.URL.Query().Get("continue") != "" {
			server(t).Compact(t) // etcd forgets the instant of the first page
		}
		response, err := send(r)
		if err == nil && response.StatusCode == http.StatusGone {
			expired++
		}
		return response, err
	})
	// The API server may have answered from its memory, which etcd's loss does not touch.
	servertest.Eventually(t, "a page that has expired", func() bool { listed(); return expired > 0 })
}
