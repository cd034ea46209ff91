package serve

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
)

// A connection of HTTP is busy while it has a whole request of a caller who may send it. The
// answers are not taken.
func TestBusyConnections(t *testing.T) {
	const next = "POST /uidring.v1.IdService/Next HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 14\r\n"
	for _, test := range []struct {
		sent string
		busy int
	}{
		{"GET /v1/ids HTTP/1.1\r\nHost: x\r\n\r\n", 0},
		{"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", 0},
		{next + "\r\n{\"name\":\"ids\"}", 0},
		{"GET /v1/ids HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\n", 0},
		{next + "Authorization: Bearer a\r\n\r\n{\"name\"", 0},
		{"GET /v1/ids HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\n\r\n", 1},
		{next + "Authorization: Bearer a\r\n\r\n{\"name\":\"ids\"}", 1},
	} {
		inMemory(t, tokens, func(w *world) {
			if w.hold(w.web, "10.0.0.1", 1, send(test.sent)); w.busy() != test.busy {
				t.Errorf("after %q %d connections are busy, want %d", test.sent, w.busy(), test.busy)
			}
		})
	}
}

// An address has its share of probes. Above the number of all, an address with few has room.
func TestProbes(t *testing.T) {
	inMemory(t, "limits: {write: 1h}\n", func(w *world) {
		address, want := 0, int64(0)
		more := func(addresses, connections int, streams uint32, add int64) {
			t.Helper()
			for range addresses {
				address++
				for range connections {
					w.hold(w.web, fmt.Sprintf("10.0.0.%d", address), 1, unread(streams, "GET", "/healthz"))
				}
			}
			if want += int64(addresses) * add; w.probes.Load() != want {
				t.Fatalf("after %d addresses %d probes are under way, want %d", address, w.probes.Load(), want)
			}
		}
		more(16, 5, 16, 64)
		more(1, 1, 16, 4)
		more(63, 1, 4, 4)
		more(1, 1, 1, 0)
		if status, text := w.ask("10.0.0.1", http.MethodGet, "/v1/ids", ""); status != http.StatusOK {
			t.Errorf("a request beside the probes: %d, %s", status, text)
		}
		w.hangUp()
		if synctest.Wait(); w.probes.Load() != 0 {
			t.Errorf("%d probes are under way at the end", w.probes.Load())
		}
	})
}
