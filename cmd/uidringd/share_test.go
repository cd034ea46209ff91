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

// elsewhere returns a client that has another address than all others.
func elsewhere(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// TestShare has an address with its share of limits.requests under way. It is refused,
// and another is served.
func TestShare(t *testing.T) {
	r := startConfig(t, `
generators: [{name: ids, kind: slots, worker: "static:1", ids_per_s: -1}]
limits: {requests: 60, connections: 100, per_address: 50, write: 1h}
`)
	end := hold(t, r.address(), 2, func(c net.Conn) {
		streams(begin(c, 0), 15, "GET", "/v1/ids", true) // short answers, which are not taken either
		drain(c)
	})
	servertest.Eventually(t, "a refusal", func() bool {
		answer, err := http.DefaultClient.Get(r.url + "/v1/ids")
		if err != nil { // cut off
			return false
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		return err == nil && answer.StatusCode == http.StatusServiceUnavailable && strings.Contains(string(text), "requests of this address are under way")
	})
	other := elsewhere(t)
	for range 100 {
		if status, text := get(t, other, r.url+"/v1/ids"); status != http.StatusOK {
			t.Fatalf("another address: %d %s", status, text)
		}
	}
	end()
	servertest.Eventually(t, "an answer", func() bool {
		answer, err := http.DefaultClient.Get(r.url + "/v1/ids")
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
	unread := func(c net.Conn) {
		framer := begin(c, 0)
		streams(framer, 5, "POST", "/uidring.v1.IdService/Next", false)
		for i := range uint32(5) { // 100,000 ids of orders
			framer.WriteData(2*i+1, true, append([]byte{0, 0, 0, 0, 12}, "\x0a\x06orders\x10\xa0\x8d\x06"...))
		}
		drain(c)
	}
	ends := []func(){hold(t, r.address(), 1, unread)}
	servertest.Eventually(t, "a refusal", func() bool {
		if next(http.DefaultClient, 501) == http.StatusServiceUnavailable {
			return true
		}
		ends = append(ends, hold(t, r.address(), 1, unread)) // instead of an answer that was refused meanwhile
		return false
	})
	if status := next(http.DefaultClient, 500); status != http.StatusOK {
		t.Errorf("a small answer: %d", status)
	}
	if status := next(elsewhere(t), 100_000); status != http.StatusOK {
		t.Errorf("another address: %d", status)
	}
	for _, end := range ends {
		end()
	}
	servertest.Eventually(t, "an answer", func() bool { return next(http.DefaultClient, 100_000) == http.StatusOK })
}
