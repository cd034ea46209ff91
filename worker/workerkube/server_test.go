//go:build linux

package workerkube_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/workerkube"
)

var must = need.Must

// The server of all tests that do not end it.
var (
	shared  *servertest.Kube
	sharing sync.Mutex
	folder  string
)

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "workerkube"); err != nil {
		panic(err)
	}
	code := m.Run()
	if shared != nil {
		shared.Kill()
		shared.Etcd.Kill()
	}
	os.RemoveAll(folder)
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Println(err)
		code = 1
	}
	os.Exit(code)
}

// server returns the shared server.
func server(t *testing.T) *servertest.Kube {
	t.Helper()
	sharing.Lock()
	defer sharing.Unlock()
	if shared == nil {
		shared = servertest.LaunchKube(t, folder)
	}
	return shared
}

// config returns a user's config of a server, without the client's limit of requests. The
// config's connections are its own, and closed at the end of the test.
func config(t *testing.T, k *servertest.Kube, user string) *rest.Config {
	t.Helper()
	c := &rest.Config{Host: k.URL(), BearerToken: user, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAFile: k.CA()}}
	secure, err := rest.TLSConfigFor(c)
	must(t, err)
	transport := utilnet.SetTransportDefaults(&http.Transport{TLSClientConfig: secure})
	c.TLSClientConfig, c.Transport = rest.TLSClientConfig{}, transport
	t.Cleanup(transport.CloseIdleConnections)
	return c
}

var names atomic.Int64

// name returns a name that no other test has.
func name() string { return fmt.Sprint("t", names.Add(1)) }

// namespace makes a namespace of the test's own.
func namespace(t *testing.T, k *servertest.Kube) string {
	t.Helper()
	n := name()
	k.Namespace(t, n)
	return n
}

// open is a user's Store of a namespace of the shared server, with faults or without.
func open(t *testing.T, namespace, user string, f ...*faults) leasestore.Preparer {
	t.Helper()
	c := config(t, server(t), user)
	for _, f := range f {
		f.in(c)
	}
	return workerkube.NewStore(c, workerkube.Config{Namespace: namespace, Prefix: "ids"})
}

// opened is a Store of a namespace of the test's own, that namespace, and the faults of the
// Store's requests.
func opened(t *testing.T) (leasestore.Preparer, string, *faults) {
	t.Helper()
	n, f := namespace(t, server(t)), new(faults)
	return open(t, n, servertest.KubeAdmin, f), n, f
}

// options are those of all holders, and the expiry of most.
var options = []lease.Config{
	{Logger: slog.New(slog.DiscardHandler), Node: lease.Node{Host: "billing-7", Port: "8080", Type: lease.NodeContainer}},
	{Expiry: 2 * time.Second},
}

func leaser(store leasestore.Store, opts ...lease.Config) *lease.Leaser {
	return lease.New(store, holdertest.Merge(append(slices.Clip(options), opts...)...))
}

// take takes a number.
func take(t *testing.T, store leasestore.Store, opts ...lease.Config) *holdertest.Holder {
	t.Helper()
	return holdertest.Take(t, leaser(store, opts...), 1023)
}

// start tries to take a number, and returns why it has none.
func start(t *testing.T, store leasestore.Store) error {
	t.Helper()
	_, err := leaser(store).Lease(t.Context(), lease.Request{Limit: 1023, Clock: time.Now, Granted: func(lease.Grant) {}, Layout: holdertest.Layout})
	return err
}

// path is the path of the leases of a namespace, or of one of them.
func path(namespace string, name ...string) string {
	return strings.Join(append([]string{"/apis/coordination.k8s.io/v1/namespaces", namespace, "leases"}, name...), "/")
}
