//go:build linux

package fleet

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
)

// programs are the clients in examples. Each call is a process.
func programs() (all []kind) {
	for name, command := range map[string][]string{"Python": {"python3", "uidring.py"}, "Node": {"node", "uidring.mjs"}, "Java": {"java", "Uidring.java"}} {
		program, err := exec.LookPath(command[0])
		all = append(all, kind{name: name, calls: 2, timeout: time.Minute, missing: err, open: func(_ *testing.T, balancer string, _ []string, generator string) draw {
			return func(ctx context.Context, n int) ([]uid.ID, error) {
				cmd := exec.CommandContext(ctx, program, append(command[1:], balancer, generator, strconv.Itoa(n))...)
				cmd.Dir = "../../examples"
				var said bytes.Buffer
				cmd.Stderr = &said
				out, err := cmd.Output()
				if err != nil {
					return nil, fmt.Errorf("%w: %s", err, &said)
				}
				return read(out)
			}
		}})
	}
	return all
}

// limits leave few places, so that callers which took those of others would be noticed.
const limits = `limits: {waiting: 100, requests: 200, connections: 200, per_address: 100, wait: 10s}`

// One store hangs, and a client floods the servers, while clients of every kind draw from
// generators of another store. None of them fails or waits.
func TestNeighbours(t *testing.T) {
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			store := servertest.StartRedis(t, servertest.Durable...)
			servers := newServers(t, database(t, t.TempDir()), "0s", more{
				stores: "  - {name: hangs, url: \"redis://" + store.Address() + "\"}",
				generators: `
  - {name: stuck, kind: segment, store: hangs, create: true, step: 10, max_step: 10}
  - {name: late, kind: default, store: hangs, window: 1s, expiry: 1s}
`,
				limits: limits,
				step:   shortRanges,
			})
			b := newBalancer(t, servers)
			store.Pause()
			var flooding sync.WaitGroup
			ctx, end := context.WithCancel(t.Context())
			for _, s := range servers {
				flood(ctx, t, &flooding, s)
			}
			crowd := newCrowd(t, b.url(), urls(servers), slices.Concat(kinds(t, patience), programs()), true)
			crowd.end(t)
			end()
			flooding.Wait()
			store.Continue()
			servertest.Eventually(t, "the counter whose store hung", func() bool {
				response, err := http.Get(servers[0].url() + "/v1/stuck")
				if err != nil {
					return false
				}
				defer response.Body.Close()
				return response.StatusCode == http.StatusOK
			})
		})
	}
}

// flood has clients of one address wait for ids of the store that hangs, and draw as much
// as they get. Those of another open connections, and send requests whose answers they do
// not read.
func flood(ctx context.Context, t *testing.T, flooding *sync.WaitGroup, s *server) {
	waiter, holder := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}, &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 3)}}
	transport := &http.Transport{DialContext: waiter.DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport}
	again := func(path string) {
		for ctx.Err() == nil {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url()+path, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if response, err := client.Do(request); err == nil { // most fail, by refusals
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	for range 40 {
		flooding.Go(func() { again("/v1/stuck?n=100") })
	}
	for range 10 {
		flooding.Go(func() { again("/v1/late?n=100") })
	}
	flooding.Go(func() { again("/v1/ids?n=10000") })
	for i := range 60 {
		flooding.Go(func() {
			for ctx.Err() == nil {
				hold(ctx, holder, s.address, i%2 == 0)
			}
		})
	}
}

// hold opens a connection, and holds it until the server ends it. A busy connection sends 20
// requests, and reads none of their answers.
func hold(ctx context.Context, dialer *net.Dialer, address string, busy bool) {
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		time.Sleep(100 * time.Millisecond) // refused
		return
	}
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	defer conn.Close()
	_, _ = io.WriteString(conn, http2.ClientPreface)
	if busy {
		framer := http2.NewFramer(conn, conn)
		_ = framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
		var block bytes.Buffer
		encoder := hpack.NewEncoder(&block)
		for i := range uint32(20) {
			block.Reset()
			for _, field := range [][2]string{{":method", "GET"}, {":path", "/openapi.yaml"}, {":scheme", "http"}, {":authority", "x"}} {
				_ = encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
			}
			_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*i + 1, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: true})
		}
	}
	_, _ = io.Copy(io.Discard, conn)
	time.Sleep(100 * time.Millisecond)
}
