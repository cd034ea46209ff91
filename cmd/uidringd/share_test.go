//go:build linux

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/servertest"
)

// from returns a client with an address of its own, and its dialer.
func from(t *testing.T, last byte) (*http.Client, *net.Dialer) {
	t.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, last)}}
	transport := &http.Transport{DialContext: dialer.DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}, dialer
}

// unreadAnswers opens connections of an address, each with 20 requests whose answers are
// not read.
func unreadAnswers(t *testing.T, r *running, dialer *net.Dialer, connections int, be func(net.Conn)) (end func()) {
	t.Helper()
	var open []net.Conn
	for range connections {
		conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(r.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, conn)
		go be(conn)
	}
	return func() {
		for _, conn := range open {
			conn.Close()
		}
	}
}

// TestShare has an address with its share of limits.requests under way. It is refused,
// and another is served.
func TestShare(t *testing.T) {
	r := startConfig(t, `
generators: [{name: ids, kind: slots, worker: "static:1", ids_per_s: -1}]
limits: {requests: 60, connections: 100, per_address: 50, write: 1h}
`)
	greedy, dialer := from(t, 2)
	end := unreadAnswers(t, r, dialer, 3, func(c net.Conn) {
		streams(begin(c, 0), 20, "GET", "/v1/ids?n=10000", true)
		drain(c)
	})
	servertest.Eventually(t, "a refusal", func() bool {
		answer, err := greedy.Get(r.url + "/v1/ids")
		if err != nil { // cut off
			return false
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		return err == nil && answer.StatusCode == http.StatusServiceUnavailable && strings.Contains(string(text), "requests of this address are under way")
	})
	for range 100 {
		if status, text := get(t, http.DefaultClient, r.url+"/v1/ids"); status != http.StatusOK {
			t.Fatalf("another address: %d %s", status, text)
		}
	}
	end()
	servertest.Eventually(t, "an answer", func() bool {
		answer, err := greedy.Get(r.url + "/v1/ids")
		return err == nil && answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
	})
}

// TestLargeAnswers has an address hold as many ids in answers of gRPC as it may. A further
// large answer is refused, small ones and those of another address are not.
func TestLargeAnswers(t *testing.T) {
	r := startConfig(t, `
stores: [{name: file, url: ids.db}]
generators: [{name: orders, kind: segment, store: file, create: true, min_step: 100000000}]
limits: {ids: 100000, write: 1h}
`)
	next := func(client *http.Client, n int) int {
		answer, err := client.Post(r.url+"/uidring.v1.IdService/Next", "application/json", strings.NewReader(fmt.Sprintf(`{"name": "orders", "n": %d}`, n)))
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		_, _ = io.Copy(io.Discard, answer.Body)
		return answer.StatusCode
	}
	greedy, dialer := from(t, 2)
	unread := func(c net.Conn) {
		framer := begin(c, 0)
		streams(framer, 5, "POST", "/uidring.v1.IdService/Next", false)
		for i := range uint32(5) { // 100,000 ids of orders
			framer.WriteData(2*i+1, true, append([]byte{0, 0, 0, 0, 12}, "\x0a\x06orders\x10\xa0\x8d\x06"...))
		}
		drain(c)
	}
	ends := []func(){unreadAnswers(t, r, dialer, 1, unread)}
	servertest.Eventually(t, "a refusal", func() bool {
		if next(greedy, 501) == http.StatusServiceUnavailable {
			return true
		}
		ends = append(ends, unreadAnswers(t, r, dialer, 1, unread)) // instead of an answer that was refused meanwhile
		return false
	})
	if status := next(greedy, 500); status != http.StatusOK {
		t.Errorf("a small answer: %d", status)
	}
	if status := next(http.DefaultClient, 100_000); status != http.StatusOK {
		t.Errorf("another address: %d", status)
	}
	for _, end := range ends {
		end()
	}
	servertest.Eventually(t, "an answer", func() bool { return next(greedy, 100_000) == http.StatusOK })
}
