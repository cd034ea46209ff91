package main

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	uidringv1 "github.com/uidring/uidring/cmd/uidringd/proto/uidring/v1"
)

// gRPC is on the same port as HTTP. A call that failed counts under its status.
func TestGRPC(t *testing.T) {
	s := start(t, t.TempDir())
	address, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient(address.Host, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	next := func(name string) (*uidringv1.NextResponse, error) {
		answer := new(uidringv1.NextResponse)
		return answer, conn.Invoke(t.Context(), "/uidring.v1.IdService/Next", &uidringv1.NextRequest{Name: name, N: 3}, answer)
	}
	if answer, err := next("orders"); err != nil || len(answer.Ids) != 3 || answer.Ids[0] != 1 {
		t.Errorf("orders: %v, %v; want 1 to 3", answer, err)
	}
	if _, err := next("nosuch"); status.Code(err) != codes.NotFound {
		t.Errorf("nosuch: %v, want NotFound", err)
	}
	if health, err := grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{}); err != nil || health.Status != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("health: %v, %v", health, err)
	}
	_, metrics := get(t, http.DefaultClient, s.url+"/metrics")
	for _, want := range []string{"200", "404"} {
		if want = `uidringd_request_duration_seconds_count{code="` + want + `",route="/uidring.v1.IdService/Next"} 1`; !strings.Contains(metrics, want) {
			t.Errorf("the metrics have no %s", want)
		}
	}
	if code := s.end(t, os.Interrupt); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
