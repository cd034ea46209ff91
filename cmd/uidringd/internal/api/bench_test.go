package api_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

// BenchmarkOne compares a request for one id with one that an empty handler answers,
// over a connection of its own that stays open.
func BenchmarkOne(b *testing.B) {
	b.Run("impl=empty", func(b *testing.B) {
		request(b, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	})
	b.Run("impl=uidringd", func(b *testing.B) {
		request(b, newHandler(b, newEntries(b), service.Config{}), "GET /v1/cached HTTP/1.1\r\nHost: x\r\n\r\n")
	})
}

// BenchmarkThousand is a request for 1,000 ids.
func BenchmarkThousand(b *testing.B) {
	handler := newHandler(b, newEntries(b), service.Config{})
	for form, request1000 := range map[string]string{
		"text": "GET /v1/cached?n=1000 HTTP/1.1\r\nHost: x\r\n\r\n",
		"json": "GET /v1/cached?n=1000&format=json HTTP/1.1\r\nHost: x\r\n\r\n",
		"runs": "POST /v1/cached/runs?n=1000 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
	} {
		b.Run("form="+form, func(b *testing.B) { request(b, handler, request1000) })
	}
}

// BenchmarkRuns is a request for the runs of a counter's ids. A million of them, which are
// consecutive, takes no longer than a thousand.
func BenchmarkRuns(b *testing.B) {
	counter, err := segment.New(b.Context(), new(segmenttest.Memory), "orders", segment.Config{Create: true, MinStep: 1 << 36, MaxStep: 1 << 40})
	if err != nil {
		b.Fatal(err)
	}
	defer counter.Close()
	handler := newHandler(b, entries{"orders": {Name: "orders", Kind: "segment", Claimer: counter}}, service.Config{})
	for _, n := range []string{"1000", "1000000"} {
		b.Run("n="+n, func(b *testing.B) {
			request(b, handler, "POST /v1/orders/runs?n="+n+" HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
		})
	}
}

// request sends the same request again and again, and reads the answers.
func request(b *testing.B, handler http.Handler, request string) {
	server := httptest.NewServer(handler)
	defer server.Close()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			b.Error(err)
			return
		}
		defer conn.Close()
		in := bufio.NewReaderSize(conn, 64<<10)
		for pb.Next() {
			if _, err := io.WriteString(conn, request); err != nil {
				b.Error(err)
				return
			}
			answer, err := http.ReadResponse(in, nil)
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, answer.Body) // an error shows in the next answer
		}
	})
}
