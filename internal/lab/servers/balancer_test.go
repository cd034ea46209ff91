//go:build linux

package servers

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// newBalancer leads each connection to a random server that is ready, and returns its URL.
func newBalancer(t *testing.T, servers []*server) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for client, err := listener.Accept(); err == nil; client, err = listener.Accept() {
			running.Go(func() { lead(ctx, client, servers) })
		}
	})
	t.Cleanup(func() {
		end()
		_ = listener.Close()
		running.Wait()
	})
	return "http://" + listener.Addr().String()
}

// lead copies both ways until either side or ctx ends.
func lead(ctx context.Context, client net.Conn, servers []*server) {
	defer client.Close()
	server := dial(servers)
	if server == nil {
		return
	}
	defer server.Close()
	ctx, end := context.WithCancel(ctx)
	defer end()
	for _, way := range [][2]net.Conn{{server, client}, {client, server}} {
		go func() {
			defer end()
			_, _ = io.Copy(way[0], way[1])
		}()
	}
	<-ctx.Done()
}

// dial connects to a server that is ready, if there is one.
func dial(servers []*server) net.Conn {
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, i := range rand.Perm(len(servers)) {
		s := servers[i]
		response, err := client.Get(s.url() + "/readyz")
		if err != nil {
			continue
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			continue
		}
		if conn, err := net.DialTimeout("tcp", s.address, time.Second); err == nil {
			return conn
		}
	}
	return nil
}
