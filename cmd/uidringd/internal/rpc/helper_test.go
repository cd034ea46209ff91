package rpc_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/uidringd/internal/api"
	"github.com/uidring/uidring/cmd/uidringd/internal/rpc"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/cmd/uidringd/internal/service/servicetest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
	"github.com/uidring/uidring/worker/lease"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newCatalog returns a clocked generator, a counter, and two that fail.
func newCatalog(t testing.TB) *servicetest.Catalog {
	t.Helper()
	layout, c := bits.Registry(), servicetest.New()
	clocked, err := uid.NewCached(t.Context(), lease.NewStatic(37), uid.CachedConfig{Layout: layout})
	c.Add(t, "ids", "", &layout, clocked, err).MaxIDs = 10_000
	counter, err := segment.New(t.Context(), new(segmenttest.Memory), "orders", segment.Config{Create: true, MinStep: 100_000})
	c.Add(t, "orders", "", nil, counter, err)
	for name, err := range map[string]error{"unavailable": context.DeadlineExceeded, "ended": uid.ErrTimeExhausted} {
		c.Entries[name] = &service.Entry{Name: name, Claimer: servicetest.Broken{Err: err}, Layout: &layout, MaxIDs: 10}
	}
	return c
}

// testServer is one that serves HTTP/1.1 and HTTP/2 without TLS on one port.
type testServer struct {
	*httptest.Server
	ready     atomic.Bool   // of the server; the generator "ids" is always ready
	stopped   chan struct{} // ends streams of the health service
	failed    atomic.Int64  // the status of the last failure that the observer was told
	deadlines atomic.Int64  // of writes, that were not removed
}

func (s *testServer) health(generator string) (serving, known bool) {
	return generator == "ids" || s.ready.Load(), generator == "ids" || generator == ""
}

// observer is the writer of a server that observes failures.
type observer struct {
	http.ResponseWriter
	server *testServer
}

func (o observer) Admitted(service.Caller) {}

func (o observer) Failed(e *service.Error) { o.server.failed.Store(int64(e.Kind.Status)) }

func (o observer) Flush() { _ = http.NewResponseController(o.ResponseWriter).Flush() }

func (o observer) SetWriteDeadline(at time.Time) error {
	if at.IsZero() {
		o.server.deadlines.Add(-1)
	} else {
		o.server.deadlines.Add(1)
	}
	return http.NewResponseController(o.ResponseWriter).SetWriteDeadline(at)
}

func serve(t *testing.T, config service.Config) *testServer {
	t.Helper()
	config.Logger = slog.New(slog.DiscardHandler)
	s := service.New(newCatalog(t), config)
	server := &testServer{stopped: make(chan struct{})}
	server.ready.Store(true)
	handler := api.New(s, rpc.New(s, rpc.Health{Of: server.health, Generators: []string{"ids"}}, server.stopped))
	server.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(observer{w, server}, r)
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// dial returns a connection of the other implementation of gRPC in Go.
func dial(t *testing.T, server *testServer) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(server.Listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	need.Must(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}
