package rpc_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
)

// reflected returns the id service as the server describes it.
func reflected(t *testing.T, server *testServer) protoreflect.ServiceDescriptor {
	t.Helper()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	stream := grpcreflect.NewClient(&http.Client{Transport: transport}, server.URL, connect.WithGRPC()).NewStream(t.Context())
	names, err1 := stream.ListServices()
	for _, want := range []protoreflect.FullName{"uidring.v1.IdService", "grpc.health.v1.Health"} {
		if !slices.Contains(names, want) {
			t.Errorf("the services are %q, want %q among them", names, want)
		}
	}
	described, err2 := stream.FileContainingSymbol("uidring.v1.IdService")
	_, err3 := stream.Close()
	files, err4 := protodesc.NewFiles(&descriptorpb.FileDescriptorSet{File: described})
	need.Must(t, errors.Join(err1, err2, err3, err4))
	found, err := files.FindDescriptorByName("uidring.v1.IdService")
	need.Must(t, err)
	return found.(protoreflect.ServiceDescriptor)
}

// A client that knows the service from reflection alone calls every method.
func TestGenericClient(t *testing.T) {
	server := serve(t, service.Config{})
	conn, methods := dial(t, server), reflected(t, server).Methods()
	type run struct{ First, Count uid.ID }
	type answer struct {
		IDs              []uid.ID
		Instance, Number string
		Runs             []run
		Worker           string
		Layout, Doubt    string
	}
	call := func(method, request string) (a answer) {
		t.Helper()
		m := methods.ByName(protoreflect.Name(method))
		if m == nil {
			t.Fatalf("the service has no %s", method)
		}
		in, out := dynamicpb.NewMessage(m.Input()), dynamicpb.NewMessage(m.Output())
		need.Must(t, protojson.Unmarshal([]byte(request), in))
		if err := conn.Invoke(t.Context(), "/uidring.v1.IdService/"+method, in, out); err != nil {
			t.Fatalf("%s %s: %v", method, request, err)
		}
		text, err := protojson.Marshal(out)
		need.Must(t, errors.Join(err, json.Unmarshal(text, &a)))
		return a
	}

	var last uid.ID
	for request, want := range map[string]int{`{"name":"ids"}`: 1, `{"name":"ids","n":1}`: 1, `{"name":"ids","n":10000}`: 10_000} {
		ids := call("Next", request).IDs
		if len(ids) != want {
			t.Errorf("Next %s returned %d ids, want %d", request, len(ids), want)
		}
		for _, id := range ids {
			if id <= last {
				t.Fatalf("Next %s returned %d after %d", request, id, last)
			}
			last = id
		}
	}
	for number := range 3 {
		want := answer{Instance: "orders-1", Number: fmt.Sprint(number + 1), Runs: []run{{uid.ID(5000*number + 1), 5000}}}
		if got := call("Runs", `{"name":"orders","n":5000}`); !reflect.DeepEqual(got, want) {
			t.Errorf("Runs returned %+v, want %+v", got, want)
		}
	}
	if got := call("Parse", fmt.Sprintf(`{"name":"ids","id":"%d"}`, last)); got.Worker != "37" || got.Doubt != "" || !strings.Contains(got.Layout, ",epoch=") {
		t.Errorf("Parse(%d) returned %+v, want worker 37 and a layout", last, got)
	}
}

func TestHealth(t *testing.T) {
	server := serve(t, service.Config{Tokens: []service.Token{{Name: "a", Hash: hash("a")}}})
	client := grpc_health_v1.NewHealthClient(dial(t, server))
	check := func(name string, want grpc_health_v1.HealthCheckResponse_ServingStatus) {
		t.Helper()
		answer, err := client.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: name})
		if err != nil || answer.Status != want {
			t.Errorf("health of %q is %v, %v; want %v", name, answer, err, want)
		}
	}
	for _, name := range []string{"", "uidring.v1.IdService"} {
		server.ready.Store(true)
		check(name, grpc_health_v1.HealthCheckResponse_SERVING)
		server.ready.Store(false)
		check(name, grpc_health_v1.HealthCheckResponse_NOT_SERVING)
	}
	check("ids", grpc_health_v1.HealthCheckResponse_SERVING)
	listed, err := client.List(t.Context(), new(grpc_health_v1.HealthListRequest))
	need.Must(t, err)
	for name, want := range map[string]grpc_health_v1.HealthCheckResponse_ServingStatus{
		"": grpc_health_v1.HealthCheckResponse_NOT_SERVING, "uidring.v1.IdService": grpc_health_v1.HealthCheckResponse_NOT_SERVING, "ids": grpc_health_v1.HealthCheckResponse_SERVING,
	} {
		if got := listed.Statuses[name]; got.GetStatus() != want || len(listed.Statuses) != 3 {
			t.Errorf("%q is listed as %v, want %v: %v", name, got, want, listed)
		}
	}
	_, err = client.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: "nosuch"})
	if status.Code(err) != codes.NotFound {
		t.Errorf("health of an unknown service is %v, want NotFound", err)
	}
}

// A method that there is not is unimplemented, whatever stands at its path, by headers alone.
func TestUnimplemented(t *testing.T) {
	server := serve(t, service.Config{Tokens: []service.Token{{Name: "a", Hash: hash("a")}}})
	conn := dial(t, server)
	for _, method := range []string{"/uidring.v1.IdService/Nosuch", "/grpc.health.v1.Health/Nosuch", "/nosuch.Service/Get", "/v1/ids", "/v1/ids/runs", "/nosuch", "/openapi.yaml", "/a//b"} {
		for _, in := range []proto.Message{new(emptypb.Empty), &grpc_health_v1.HealthCheckRequest{Service: strings.Repeat("x", 100_000)}} {
			server.failed.Store(0)
			if err := conn.Invoke(t.Context(), method, in, new(emptypb.Empty)); status.Code(err) != codes.Unimplemented || server.failed.Load() != 404 {
				t.Errorf("%s: %v, and the observer was told status %d", method, err, server.failed.Load())
			}
		}
		stream, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
		need.Must(t, err)
		if err := stream.RecvMsg(new(emptypb.Empty)); status.Code(err) != codes.Unimplemented {
			t.Errorf("%s as a stream: %v", method, err)
		}
	}
	for _, kind := range []string{"application/grpc", "application/grpc-web+proto"} {
		answer, err := server.Client().Post(server.URL+"/nosuch.Service/Get", kind, strings.NewReader("\x00\x00\x00\x00\x00"))
		need.Must(t, err)
		answer.Body.Close()
		if h := answer.Header; answer.StatusCode != http.StatusOK || h.Get("Grpc-Status") != "12" || h.Get("Content-Type") != kind || len(answer.Trailer) > 0 {
			t.Errorf("%s gets %d, %v", kind, answer.StatusCode, h)
		}
	}
	if conn.GetState() != connectivity.Ready {
		t.Errorf("the connection is %v", conn.GetState())
	}
}

// Watch sends a status, and each change. Between two, it may be silent for longer than a message may
// take. It ends with the server.
func TestWatch(t *testing.T) {
	server := serve(t, service.Config{})
	client := grpc_health_v1.NewHealthClient(dial(t, server))
	watch := func(name string) func(grpc_health_v1.HealthCheckResponse_ServingStatus) {
		stream, err := client.Watch(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: name})
		need.Must(t, err)
		return func(want grpc_health_v1.HealthCheckResponse_ServingStatus) {
			t.Helper()
			answer, err := stream.Recv()
			if want == grpc_health_v1.HealthCheckResponse_UNKNOWN {
				if err != io.EOF {
					t.Errorf("%q: %v, %v; want the end", name, answer, err)
				}
			} else if err != nil || answer.Status != want {
				t.Errorf("%q is %v, %v; want %v", name, answer, err, want)
			}
		}
	}
	all, ids, nosuch := watch(""), watch("ids"), watch("nosuch")
	all(grpc_health_v1.HealthCheckResponse_SERVING)
	ids(grpc_health_v1.HealthCheckResponse_SERVING)
	nosuch(grpc_health_v1.HealthCheckResponse_SERVICE_UNKNOWN)
	servertest.Eventually(t, "no message has a deadline", func() bool { return server.deadlines.Load() == 0 })
	server.ready.Store(false)
	all(grpc_health_v1.HealthCheckResponse_NOT_SERVING)
	server.ready.Store(true)
	all(grpc_health_v1.HealthCheckResponse_SERVING)
	close(server.stopped)
	for _, next := range []func(grpc_health_v1.HealthCheckResponse_ServingStatus){all, ids, nosuch} {
		next(grpc_health_v1.HealthCheckResponse_UNKNOWN)
	}
}
