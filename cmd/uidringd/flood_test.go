//go:build linux

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

// memoryLimit is what the manifests in deploy allow, in KiB. The race detector takes as much
// again.
const memoryLimit = 512 << 10 << raced

// floods are what clients can hold, with the number of connections. Those with a path or
// anonymous commands are answers that are never read, of a server on which nobody has to
// authenticate.
var floods = []struct {
	name        string
	connections int
	secure      bool
	anonymous   bool
	redis       bool // at the port of the Redis protocol
	be          func(net.Conn)
}{
	{"h2c, 100 answers each that are never read", 1000, false, false, false, unread("GET", "/openapi.yaml")},
	{"idle TLS", 12_000, true, false, false, func(c net.Conn) {
		secure := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
		if secure.Handshake() == nil {
			drain(c)
		}
	}},
	{"half a header", 12_000, false, false, false, func(c net.Conn) {
		fmt.Fprintf(c, "GET /v1/ids HTTP/1.1\r\nHost: x\r\nX: %s", strings.Repeat("x", 8<<10))
		drain(c)
	}},
	{"text", 1000, false, true, false, unread("GET", "/v1/orders?n=10000")},
	{"JSON", 1000, false, true, false, unread("GET", "/v1/orders?n=10000&format=json")},
	{"runs", 1000, false, true, false, unread("POST", "/v1/orders/runs?n=10000")},
	{"metrics", 1000, false, true, false, unread("GET", "/metrics")},
	{"status page", 1000, false, true, false, unread("GET", "/status/")},
	{"status as JSON", 1000, false, true, false, unread("GET", "/status/stats.json?limit=10000")},
	{"page of generators", 1000, false, true, false, unread("GET", "/")},
	{"gRPC", 1000, false, true, false, func(c net.Conn) {
		framer := begin(c, 0)
		streams(framer, 100, "POST", "/uidring.v1.IdService/Next", false)
		message := append([]byte{0, 0, 0, 0, 11}, "\x0a\x06orders\x10\x90\x4e"...) // 10,000 ids of orders
		for i := range uint32(100) {
			framer.WriteData(2*i+1, true, message)
		}
		drain(c)
	}},
	{"HTTP/1, pipelined", 1000, false, true, false, func(c net.Conn) {
		dribble(c, "", strings.Repeat("GET /v1/orders?n=10000 HTTP/1.1\r\nHost: x\r\n\r\n", 100))
	}},
	{"Redis, idle", 12_000, false, true, true, func(c net.Conn) {
		io.WriteString(c, "INCR orders\r\n")
		drain(c)
	}},
	{"Redis, idle TLS", 12_000, true, false, true, func(c net.Conn) {
		secure := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
		if _, err := io.WriteString(secure, "PING\r\n"); err == nil {
			drain(secure)
		}
	}},
	{"Redis, half a request", 12_000, false, false, true, func(c net.Conn) {
		io.WriteString(c, "*3\r\n$4\r\nAUTH\r\n$8000\r\n"+strings.Repeat("x", 8000)+"\r\n$8000\r\n"+strings.Repeat("x", 7000))
		drain(c)
	}},
	{"Redis, huge strings", 1000, false, false, true, func(c net.Conn) {
		dribble(c, "*2\r\n$4\r\nINCR\r\n$536870912\r\n", strings.Repeat("x", 1<<20))
	}},
	{"Redis, a line without an end", 1000, false, false, true, func(c net.Conn) {
		dribble(c, "INCR ", strings.Repeat("x", 1<<20))
	}},
	{"Redis, a million arguments", 1000, false, false, true, func(c net.Conn) {
		dribble(c, "*1000000\r\n", strings.Repeat("$1\r\nx\r\n", 100_000))
	}},
	{"Redis, a thousand arguments", 1000, false, true, true, func(c net.Conn) {
		dribble(c, "", strings.Repeat("MGET"+strings.Repeat(" orders", 1000)+"\r\n", 100))
	}},
	{"Redis, runs", 1000, false, true, true, func(c net.Conn) {
		dribble(c, "", strings.Repeat("UID.RUNS orders 10000\r\n", 1000))
	}},
	{"Redis, pipelined", 1000, false, true, true, func(c net.Conn) {
		dribble(c, "", strings.Repeat("INCR orders\r\n", 10_000))
	}},
	{"Redis, long answers", 1000, false, true, true, func(c net.Conn) {
		dribble(c, "", strings.Repeat("COMMAND DOCS\r\nUID.LIST\r\nINFO\r\n", 1000))
	}},
}

// unread asks 100 times by HTTP/2, and lets no answer come.
func unread(method, path string) func(net.Conn) {
	return func(c net.Conn) {
		streams(begin(c, 0), 100, method, path, true)
		drain(c)
	}
}

// drain reads until the connection ends.
func drain(c net.Conn) {
	for buf := make([]byte, 512); ; {
		if _, err := c.Read(buf); err != nil {
			return
		}
	}
}

// TestFlood has a server with the default limits bear each flood. Its memory stays below
// the manifests' limit, and it answers probes. UIDRING_FLOOD is the share of each flood's
// connections, from 0 to 1.
func TestFlood(t *testing.T) {
	share, err := strconv.ParseFloat(os.Getenv("UIDRING_FLOOD"), 64)
	if err != nil {
		share = 0.05
	}
	for _, flood := range floods {
		t.Run(flood.name, func(t *testing.T) {
			if share < 1 {
				t.Parallel() // whole floods would take each other's processors and files
			}
			dir := t.TempDir()
			more := ""
			if flood.secure {
				certify(t, dir, 1)
				more = "tls: {cert: cert.pem, key: key.pem}\n"
			}
			config := slowConfig + more + "tokens: [{name: a, sha256: " + hash("a") + ", generators: [ids]}]\n"
			if flood.anonymous {
				config = "stores: [{name: file, url: ids.db}]\ngenerators:\n  - {name: orders, kind: segment, store: file, create: true, min_step: 100000000}\n" +
					"  - {name: tags, kind: tags, store: file}\n"
				tagged(t, dir, int(share*3000))
			}
			r := start(t, dir, "--config", write(t, dir, "c.yaml", config))
			for i := range int(share * 3000) {
				if flood.anonymous {
					get(t, http.DefaultClient, fmt.Sprintf("%s/v1/tenant-%d", r.url, i))
				}
			}
			address := r.address()
			if flood.redis {
				address = r.redisAddress
			}
			var clients sync.WaitGroup
			var open []net.Conn
			n := int(share * float64(flood.connections))
			for i := range n {
				from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i%4))}}
				conn, err := from.Dial("tcp", address)
				if err != nil {
					t.Fatal(err)
				}
				open = append(open, conn)
				clients.Go(func() { flood.be(conn) })
				if i%(n/10) == n/10-1 {
					healthy(t, r)
				}
			}
			for range 10 { // the floods are over after limits.read, or last
				time.Sleep(200 * time.Millisecond)
				healthy(t, r)
			}
			peak := peakMemory(t, r)
			t.Logf("%d connections: %d MiB at the peak", n, peak>>10)
			if peak > memoryLimit {
				t.Errorf("%d MiB at the peak, want %d at most", peak>>10, memoryLimit>>10)
			}
			for _, conn := range open {
				conn.Close()
			}
			clients.Wait()
		})
	}
}

// tagged makes a file with n counters.
func tagged(t *testing.T, dir string, n int) {
	t.Helper()
	db := clitest.Open(t, dir+"/ids.db")
	if err := segmentsql.LeafAlloc(db.DB, segmentsql.Config{}).Create(t.Context(), "tenant-0", 1, 1000); err != nil {
		t.Fatal(err)
	}
	err := db.Exec("INSERT INTO leaf_alloc (biz_tag, max_id, step) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT 'tenant-' || i, 1, 1000 FROM n", n).Error
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
}

// healthy probes the server on a new connection. Of connections above the limit the server
// closes the oldest, so the flood's next ones can end a probe: that one is sent again.
func healthy(t *testing.T, r *running) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, Timeout: 20 * time.Second}
	for attempt := 1; ; attempt++ {
		answer, err := client.Get(r.url + "/healthz")
		if err != nil && attempt < 5 && !errors.Is(err, context.DeadlineExceeded) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("healthz: %s", answer.Status)
		}
		return
	}
}

// peakMemory returns the greatest resident memory so far, in KiB.
func peakMemory(t *testing.T, r *running) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, text2, _ := strings.Cut(string(text), "VmHWM:")
	fields := strings.Fields(text2)
	peak, err := strconv.Atoi(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	return peak
}
