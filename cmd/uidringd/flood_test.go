//go:build linux

package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// memoryLimit is what the manifests in deploy allow, in KiB.
const memoryLimit = 512 << 10

// floods are what a client without a token can hold, with the number of connections.
var floods = []struct {
	name        string
	connections int
	secure      bool
	be          func(net.Conn)
}{
	{"h2c, 100 answers each that are never read", 1000, false, func(c net.Conn) {
		framer := begin(c, 0)
		streams(framer, 100, "GET", "/openapi.yaml", true)
		drain(c)
	}},
	{"idle TLS", 12_000, true, func(c net.Conn) {
		secure := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
		if secure.Handshake() == nil {
			drain(c)
		}
	}},
	{"half a header", 12_000, false, func(c net.Conn) {
		fmt.Fprintf(c, "GET /v1/ids HTTP/1.1\r\nHost: x\r\nX: %s", strings.Repeat("x", 8<<10))
		drain(c)
	}},
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
			dir := t.TempDir()
			more := ""
			if flood.secure {
				certify(t, dir, 1)
				more = "tls: {cert: cert.pem, key: key.pem}\n"
			}
			r := start(t, dir, "--config", write(t, dir, "c.yaml", slowConfig+more+"tokens: [{name: a, sha256: "+hash("a")+", generators: [ids]}]\n"))
			_, address, _ := strings.Cut(r.url, "://")
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

// healthy probes the server on a new connection.
func healthy(t *testing.T, r *running) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, Timeout: 20 * time.Second}
	if status, _ := get(t, client, r.url+"/healthz"); status != http.StatusOK {
		t.Errorf("healthz: %d", status)
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
