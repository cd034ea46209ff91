package rpc_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/uidring/uidring/cmd/uidringd/internal/api"
	"github.com/uidring/uidring/cmd/uidringd/internal/rpc"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	uidringv1 "github.com/uidring/uidring/cmd/uidringd/proto/uidring/v1"
	"github.com/uidring/uidring/internal/test/need"
)

// FuzzCalls sends any bytes as the message of any call, in each protocol. Each gets an
// answer that may not be cached, and that is a failure if the message is invalid.
func FuzzCalls(f *testing.F) {
	for _, message := range []proto.Message{
		&uidringv1.NextRequest{Name: "ids", N: 3}, &uidringv1.RunsRequest{Name: "orders", N: 10_000}, &uidringv1.ParseRequest{Name: "ids", Id: 1 << 40},
		&uidringv1.NextRequest{Name: "unavailable"}, &uidringv1.NextRequest{Name: "ids", N: -1},
	} {
		text, err := proto.Marshal(message)
		need.Must(f, err)
		for _, method := range []string{"Next", "Runs", "Parse", "Nosuch"} {
			f.Add(method, "application/proto", "", text)
			for _, envelope := range []string{"application/grpc", "application/grpc-web", "application/grpc+proto"} {
				f.Add(method, envelope, "gzip", append([]byte{0, 0, 0, 0, byte(len(text))}, text...))
			}
		}
	}
	f.Add("Next", "application/json", "", []byte(`{"name":"ids","n":3}`))
	f.Add("Next", "application/json", "gzip", []byte(`{"name":"ids"}`))
	f.Add("Parse", "application/connect+json", "", []byte("\x02\x00\x00\x00\x02{}"))

	s := service.New(newCatalog(f), service.Config{Limits: service.Limits{Wait: time.Microsecond}, Logger: slog.New(slog.DiscardHandler)})
	handler := api.New(s, rpc.New(s, rpc.Health{}, nil))
	f.Fuzz(func(t *testing.T, method, contentType, encoding string, body []byte) {
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		r.URL.Path = "/uidring.v1.IdService/" + method
		r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/2.0", 2, 0
		r.Header.Set("Content-Type", contentType)
		for _, name := range []string{"Content-Encoding", "Grpc-Encoding"} {
			r.Header.Set(name, encoding)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if cache := w.Header().Get("Cache-Control"); cache != "no-store" {
			t.Fatalf("%s %s: %d, Cache-Control %q", method, contentType, w.Code, cache)
		}
		if contentType != "application/proto" || w.Code != http.StatusOK {
			return
		}
		request := map[string]proto.Message{"Next": new(uidringv1.NextRequest), "Runs": new(uidringv1.RunsRequest), "Parse": new(uidringv1.ParseRequest)}[method]
		if encoding == "" && (request == nil || proto.Unmarshal(body, request) != nil) {
			t.Fatalf("%s succeeds with %q", method, body)
		}
	})
}
