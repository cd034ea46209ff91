//go:build linux

package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

// memoryLimit is what the manifests in deploy allow, in KiB. The race detector takes as much
// again.
const memoryLimit = 512 << 10 << raced

type flood struct {
	name        string
	connections int
	secure      bool
	anonymous   bool
	tags        bool // thousands of counters are open
	redis       bool // at the port of the Redis protocol
	be          func(net.Conn)

	addresses int  // of its clients; 0 is four
	beside    bool // it leaves every request of another address with an answer
}

// floods are what clients can hold, with the number of connections. Those with a path or
// anonymous commands are answers that are never read, of a server on which nobody has to
// authenticate.
var floods = append([]flood{
	{name: "h2c, 100 answers each that are never read", connections: 1000, be: unread(100, "GET", "/openapi.yaml")},
	{name: "idle TLS", connections: 12_000, secure: true, be: func(c net.Conn) {
		secure := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
		if secure.Handshake() == nil {
			drain(c)
		}
	}},
	{name: "half a header", connections: 12_000, be: func(c net.Conn) {
		fmt.Fprintf(c, "GET /v1/ids HTTP/1.1\r\nHost: x\r\nX: %s", strings.Repeat("x", 8<<10))
		drain(c)
	}},
	{name: "text", connections: 1000, anonymous: true, be: unread(100, "GET", "/v1/orders?n=10000")},
	{name: "JSON", connections: 1000, anonymous: true, be: unread(100, "GET", "/v1/orders?n=10000&format=json")},
	{name: "runs", connections: 1000, anonymous: true, be: unread(100, "POST", "/v1/orders/runs?n=10000")},
	{name: "metrics", connections: 1000, anonymous: true, tags: true, be: unread(100, "GET", "/metrics")},
	{name: "status page", connections: 1000, anonymous: true, tags: true, be: unread(100, "GET", "/status/")},
	{name: "status as JSON", connections: 1000, anonymous: true, tags: true, be: unread(100, "GET", "/status/stats.json?limit=10000")},
	{name: "page of generators", connections: 1000, anonymous: true, be: unread(100, "GET", "/")},
	{name: "gRPC", connections: 1000, anonymous: true, be: func(c net.Conn) {
		framer := begin(c, 0)
		streams(framer, 100, "POST", "/uidring.v1.IdService/Next", false)
		message := append([]byte{0, 0, 0, 0, 11}, "\x0a\x06orders\x10\x90\x4e"...) // 10,000 ids of orders
		for i := range uint32(100) {
			framer.WriteData(2*i+1, true, message)
		}
		drain(c)
	}},
	{name: "HTTP/1, pipelined", connections: 1000, anonymous: true, be: dribble("", strings.Repeat("GET /v1/orders?n=10000 HTTP/1.1\r\nHost: x\r\n\r\n", 100))},
	{name: "Redis, idle", connections: 12_000, anonymous: true, redis: true, be: func(c net.Conn) {
		io.WriteString(c, "INCR orders\r\n")
		drain(c)
	}},
	{name: "Redis, idle TLS", connections: 12_000, secure: true, redis: true, be: func(c net.Conn) {
		secure := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
		if _, err := io.WriteString(secure, "PING\r\n"); err == nil {
			drain(secure)
		}
	}},
	{name: "Redis, half a request", connections: 12_000, redis: true, be: func(c net.Conn) {
		io.WriteString(c, "*3\r\n$4\r\nAUTH\r\n$8000\r\n"+strings.Repeat("x", 8000)+"\r\n$8000\r\n"+strings.Repeat("x", 7000))
		drain(c)
	}},
	{name: "Redis, huge strings", connections: 1000, redis: true, be: dribble("*2\r\n$4\r\nINCR\r\n$536870912\r\n", strings.Repeat("x", 1<<20))},
	{name: "Redis, a line without an end", connections: 1000, redis: true, be: dribble("INCR ", strings.Repeat("x", 1<<20))},
	{name: "Redis, a million arguments", connections: 1000, redis: true, be: dribble("*1000000\r\n", strings.Repeat("$1\r\nx\r\n", 100_000))},
	{name: "Redis, commands that drip", connections: 1000, redis: true, addresses: 2, beside: true, be: func(c net.Conn) {
		io.WriteString(c, "*2\r\n$4\r\nECHO\r\n$16000\r\n"+strings.Repeat("x", 15_900))
		for _, err := io.WriteString(c, "x"); err == nil; _, err = io.WriteString(c, "x") {
			time.Sleep(100 * time.Millisecond)
		}
	}},
	{name: "Redis, a thousand arguments", connections: 1000, anonymous: true, redis: true, be: dribble("", strings.Repeat("ECHO"+strings.Repeat(" orders", 1000)+"\r\n", 100))},
	{name: "Redis, runs", connections: 1000, anonymous: true, redis: true, be: dribble("", strings.Repeat("UID.RUNS orders 10000\r\n", 1000))},
	{name: "Redis, pipelined", connections: 1000, anonymous: true, redis: true, be: dribble("", strings.Repeat("INCR orders\r\n", 10_000))},
	{name: "Redis, long answers", connections: 1000, anonymous: true, redis: true, be: dribble("", strings.Repeat("HELLO 3\r\nINFO\r\nINFO\r\n", 1000))},
}, halfFloods()...)

// halfFloods hold answers that are never read of requests whose bodies do not end, with headers of
// 12 kB: on each route, and on all routes with and without tokens.
func halfFloods() (all []flood) {
	routes := []string{
		"GET /healthz", "GET /readyz", "POST /grpc.health.v1.Health/Check", "POST /grpc.health.v1.Health/Watch", "POST /grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
		"GET /v1/orders", "POST /v1/orders/runs", "GET /v1/orders/parse/7", "GET /", "GET /metrics", "GET /status/", "GET /status/stats.json", "GET /openapi.yaml", "GET /nowhere",
		"GET /api/segment/get/orders", "GET /api/snowflake/get/orders", "GET /decodeSnowflakeId",
		"POST /uidring.v1.IdService/Next", "POST /uidring.v1.IdService/Runs", "POST /uidring.v1.IdService/Parse",
	}
	add := func(name string, connections, addresses int, tokens bool, routes ...string) {
		who := map[bool]string{true: "with tokens", false: "without tokens"}[tokens]
		all = append(all, flood{name: fmt.Sprintf("half a request, %s, %d from %d, %s", name, connections, addresses, who), connections: connections, addresses: addresses,
			anonymous: !tokens, beside: true, be: half(routes)})
	}
	for _, tokens := range []bool{false, true} {
		for _, connections := range []int{500, 1000} {
			add("all routes", connections, 1, tokens, routes...)
			add("all routes", connections, 2, tokens, routes...)
		}
		if os.Getenv("UIDRING_FLOOD") == "" {
			continue // small floods of each route show no more than those of all
		}
		for _, route := range routes {
			add(route, 1000, 2, tokens, route)
		}
	}
	return all
}

// half begins 20 requests by HTTP/2, lets no answer come, and sends as much of their bodies as the
// server takes, but not the end.
func half(routes []string) func(net.Conn) {
	return func(c net.Conn) {
		framer := begin(c, 0)
		var window atomic.Int64
		window.Store(65_535)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for {
				frame, err := framer.ReadFrame()
				if err != nil {
					return
				}
				if more, ok := frame.(*http2.WindowUpdateFrame); ok && more.StreamID == 0 {
					window.Add(int64(more.Increment))
				}
			}
		}()
		for i := range uint32(20) {
			method, path, _ := strings.Cut(routes[int(i)%len(routes)], " ")
			block := header(method, path, hpack.HeaderField{Name: "x", Value: strings.Repeat("#", 12_000)})
			framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*i + 1, BlockFragment: block, EndHeaders: true})
		}
		time.Sleep(500 * time.Millisecond) // for the window to grow
		for i := range uint32(20 * 4) {
			if window.Add(-13_000) < 0 {
				window.Add(13_000)
				break
			}
			framer.WriteData(2*(i%20)+1, false, make([]byte, 13_000))
		}
		<-ended
	}
}

// beside asks for ids from another address while the flood runs, each on a new connection. The
// function that it returns stops this, and returns how long 99 of 100 answers took, how many
// requests were sent, and how many had no answer with an id.
func beside(t *testing.T, url string) func() (p99 time.Duration, asked, failed int) {
	t.Helper()
	from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 99)}}
	client := &http.Client{Transport: &http.Transport{DialContext: from.DialContext, DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, Timeout: 20 * time.Second}
	var took []time.Duration
	failed := 0
	ctx, end := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	asking.Go(func() {
		for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
			r, _ := http.NewRequest(http.MethodGet, url, nil)
			r.Header.Set("Authorization", "Bearer a")
			began := time.Now()
			answer, err := client.Do(r)
			if took = append(took, time.Since(began)); err != nil {
				failed++
				continue
			}
			if answer.Body.Close(); answer.StatusCode != http.StatusOK {
				failed++
			}
		}
	})
	return func() (time.Duration, int, int) {
		end()
		asking.Wait()
		slices.Sort(took)
		return took[len(took)*99/100], len(took), failed
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
		t.Run(strings.ReplaceAll(flood.name, "/", "|"), func(t *testing.T) {
			if share < 1 {
				t.Parallel() // whole floods would take each other's processors and files
			}
			config := "tokens: [{name: a, sha256: " + hash + ", generators: [ids]}]\n" +
				"stores: [{name: file, url: ids.db}]\ngenerators: [{name: ids, kind: segment, store: file, create: true, min_step: 10000000}]\n"
			if flood.secure {
				config += secured
			}
			dir := t.TempDir()
			if flood.anonymous {
				config = "stores: [{name: file, url: ids.db}]\ngenerators:\n  - {name: orders, kind: segment, store: file, create: true, min_step: 100000000}\n" +
					"  - {name: tags, kind: tags, store: file}\n"
			}
			tags := 0
			if flood.tags {
				tags = int(share * 3000)
				tagged(t, dir, tags)
			}
			r := start(t, dir, config)
			for i := range tags {
				answer, err := http.Get(fmt.Sprintf("%s/v1/tenant-%d", r.url, i))
				if err != nil || answer.StatusCode != http.StatusOK {
					t.Fatal(answer, err)
				}
				_, _ = io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
			address := strings.TrimPrefix(strings.TrimPrefix(r.url, "http://"), "https://")
			if flood.redis {
				address = r.redis
			}
			path := "/v1/ids"
			if flood.anonymous {
				path = "/v1/orders"
			}
			ends := beside(t, r.url+path)
			var clients sync.WaitGroup
			var open []net.Conn
			n := int(share * float64(flood.connections))
			for i := range n {
				from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i%cmp.Or(flood.addresses, 4)))}}
				conn, err := from.Dial("tcp", address)
				need.Must(t, err)
				open = append(open, conn)
				clients.Go(func() { flood.be(conn) })
				if i%(n/10) == n/10-1 {
					healthy(t, r.url+"/healthz")
				}
			}
			for range 1 + int(10*share) { // the floods are over after limits.read, or last
				time.Sleep(200 * time.Millisecond)
				healthy(t, r.url+"/healthz")
			}
			http.DefaultClient.CloseIdleConnections()
			peak := peakMemory(t, r)
			p99, asked, failed := ends()
			t.Logf("%d connections: %d MiB at the peak; of another address %d of %d requests failed, 99 of 100 took %v at most", n, peak>>10, failed, asked, p99)
			if flood.beside && failed > 0 {
				t.Errorf("%d of %d requests of another address failed", failed, asked)
			}
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
	need.Must(t, segmentsql.NewLeafAlloc(db.DB, segmentsql.Config{}).Create(t.Context(), "tenant-0", 1, 1000))
	err := db.Exec("INSERT INTO leaf_alloc (biz_tag, max_id, step) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT 'tenant-' || i, 1, 1000 FROM n", n).Error
	need.Must(t, err)
	db.Close()
}

// healthy asks the server on a new connection, and expects a good answer. Of connections above the
// limit the server closes the oldest, so the flood's next ones can end this one: then it asks again.
func healthy(t *testing.T, url string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, Timeout: 20 * time.Second}
	for attempt := 1; ; attempt++ {
		answer, err := client.Get(url)
		if err != nil && attempt < 5 && !errors.Is(err, context.DeadlineExceeded) {
			continue
		}
		need.Must(t, err)
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", url, answer.Status)
		}
		return
	}
}

// peakMemory returns the greatest resident memory so far, in KiB.
func peakMemory(t *testing.T, r *running) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.cmd.Process.Pid))
	need.Must(t, err)
	_, text2, _ := strings.Cut(string(text), "VmHWM:")
	fields := strings.Fields(text2)
	peak, err := strconv.Atoi(fields[0])
	need.Must(t, err)
	return peak
}
