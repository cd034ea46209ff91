package rpc_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	uidringv1 "github.com/uidring/uidring/cmd/uidringd/proto/uidring/v1"
	"github.com/uidring/uidring/cmd/uidringd/proto/uidring/v1/uidringv1connect"
	"github.com/uidring/uidring/internal/test/need"
)

func hash(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

// failure is what a client sees of an error.
type failure struct {
	code, message string
	retry         bool
}

// call calls a method with a token, and returns the failure.
type call func(t *testing.T, server *testServer, token, method string, request any) failure

// protocols call by each protocol.
var protocols = map[string]call{
	"grpc":    by(connect.WithGRPC()),
	"grpcweb": by(connect.WithGRPCWeb()),
	"connect": by(),
	"json":    by(connect.WithProtoJSON()),
}

func by(options ...connect.ClientOption) call {
	return func(t *testing.T, server *testServer, token, method string, request any) failure {
		t.Helper()
		client := uidringv1connect.NewIdServiceClient(server.Client(), server.URL, options...)
		ctx, info := connect.NewClientContext(t.Context())
		if token != "" {
			info.RequestHeader().Set("Authorization", "Bearer "+token)
		}
		var err error
		switch r := request.(type) {
		case *uidringv1.NextRequest:
			_, err = client.Next(ctx, r)
		case *uidringv1.RunsRequest:
			_, err = client.Runs(ctx, r)
		case *uidringv1.ParseRequest:
			_, err = client.Parse(ctx, r)
		}
		e, ok := err.(*connect.Error)
		if !ok {
			t.Fatalf("%s %v: %v", method, request, err)
		}
		f := failure{code: e.Code().String(), message: e.Message()}
		for _, detail := range e.Details() {
			value, err := detail.Value()
			need.Must(t, err)
			info, ok := value.(*errdetails.RetryInfo)
			f.retry = f.retry || ok && info.RetryDelay.AsDuration() > 0
		}
		return f
	}
}

// post sends JSON as curl does.
func post(t *testing.T, server *testServer, token, method, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/uidring.v1.IdService/"+method, strings.NewReader(body))
	need.Must(t, err)
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := server.Client().Do(r)
	need.Must(t, err)
	defer answer.Body.Close()
	if got := answer.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control is %q, want no-store", got)
	}
	text, err := io.ReadAll(answer.Body)
	need.Must(t, err)
	return answer.StatusCode, string(text)
}

// An error has the same code and text in every protocol.
func TestErrors(t *testing.T) {
	server := serve(t, service.Config{Tokens: []service.Token{
		{Name: "all", Hash: hash("all")},
		{Name: "orders", Hash: hash("orders"), May: func(name string) bool { return name == "orders" }},
	}})
	spent := serve(t, service.Config{Limits: service.Limits{Requests: 1e-9, Burst: 1}})
	if code, body := post(t, spent, "", "Next", `{"name":"ids"}`); code != http.StatusOK {
		t.Fatalf("the first request at the limit of the rate: %d %s", code, body)
	}
	for _, tt := range []struct {
		name    string
		server  *testServer
		token   string
		method  string
		request any
		code    string
		status  int64    // in HTTP
		want    []string // in the message
		retry   bool
	}{
		{"no token", server, "", "Next", &uidringv1.NextRequest{Name: "ids"}, "unauthenticated", 401, []string{"bearer token"}, false},
		{"wrong token", server, "wrong", "Runs", &uidringv1.RunsRequest{Name: "ids"}, "unauthenticated", 401, nil, false},
		{"other's token", server, "orders", "Next", &uidringv1.NextRequest{Name: "ids"}, "permission_denied", 403, []string{`"ids"`}, false},
		{"other's token for parse", server, "orders", "Parse", &uidringv1.ParseRequest{Name: "ids", Id: 1}, "permission_denied", 403, []string{`"ids"`}, false},
		{"unknown", server, "all", "Next", &uidringv1.NextRequest{Name: "nosuch"}, "not_found", 404, []string{`"nosuch"`}, false},
		{"too many", server, "all", "Next", &uidringv1.NextRequest{Name: "ids", N: 10_001}, "invalid_argument", 400, []string{"10001", "1 to 10000"}, false},
		{"negative", server, "all", "Runs", &uidringv1.RunsRequest{Name: "ids", N: -1}, "invalid_argument", 400, []string{"-1", "1 to 10000"}, false},
		{"no id", server, "all", "Parse", &uidringv1.ParseRequest{Name: "ids"}, "invalid_argument", 400, []string{"0"}, false},
		{"negative id", server, "all", "Parse", &uidringv1.ParseRequest{Name: "orders", Id: -5}, "invalid_argument", 400, []string{"-5"}, false},
		{"unavailable", server, "all", "Next", &uidringv1.NextRequest{Name: "unavailable"}, "unavailable", 503, []string{`"unavailable"`}, true},
		{"ended", server, "all", "Next", &uidringv1.NextRequest{Name: "ended"}, "failed_precondition", 500, []string{`"ended"`}, false},
		{"rate", spent, "", "Next", &uidringv1.NextRequest{Name: "ids"}, "resource_exhausted", 429, nil, true},
	} {
		for protocol, call := range protocols {
			t.Run(tt.name+"/"+protocol, func(t *testing.T) {
				tt.server.failed.Store(0)
				got := call(t, tt.server, tt.token, tt.method, tt.request)
				if got.code != tt.code || got.retry != tt.retry {
					t.Errorf("%+v, want code %s, retry %v", got, tt.code, tt.retry)
				}
				if status := tt.server.failed.Load(); status != tt.status {
					t.Errorf("the observer was told status %d, want %d", status, tt.status)
				}
				if clitest.Wants(t, got.message, tt.want...); got.message == "" {
					t.Error("there is no message")
				}
			})
		}
	}
}

func TestJSON(t *testing.T) {
	server := serve(t, service.Config{})
	for _, tt := range []struct{ method, request, want string }{
		{"Runs", `{"name":"orders","n":50000}`, `{"instance":"orders-1","number":"1","runs":[{"first":"1","count":"50000"}]}`},
		{"Next", `{"name":"orders","n":2}`, `{"ids":["50001","50002"]}`},
		{"Parse", `{"name":"ids","id":"1"}`, `{"time":"2026-01-01T00:00:00Z","worker":"0","sequence":"1",` +
			`"layout":"28/22/13,epoch=2026-01-01,unit=1s","doubt":"its time is on the first day of the layout"}`},
		{"Parse", `{"name":"orders","id":"1"}`, `{}`},
	} {
		code, body := post(t, server, "", tt.method, tt.request)
		compact := new(bytes.Buffer) // blanks differ from build to build
		if err := json.Compact(compact, []byte(body)); err != nil || code != http.StatusOK || compact.String() != tt.want {
			t.Errorf("%s %s: %d %s, want %s", tt.method, tt.request, code, body, tt.want)
		}
	}
	if code, _ := post(t, server, "", "Next", `{"name":"`+strings.Repeat("x", 5000)+`"}`); code != http.StatusTooManyRequests {
		t.Errorf("a request of 5000 bytes: %d, want resource_exhausted", code)
	}
	if code, _ := post(t, server, "", "Nosuch", `{}`); code != http.StatusNotFound {
		t.Errorf("an unknown method: %d, want 404", code)
	}
}
