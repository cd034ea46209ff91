//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/uidring/uidring/cmd/uidringd/internal/gate"
	"github.com/uidring/uidring/internal/test/servertest"
)

// TestConnections fills all places with connections. Idle ones make room for others. Busy
// ones do not: then probes are answered, and all else is refused.
func TestConnections(t *testing.T) {
	r := startConfig(t, slowConfig+"limits: {connections: 20, read: 1h}\n")
	for range 100 {
		reach(t, r.address())
	}
	if status, err := ask(t.Context(), r.url); err != nil || status != http.StatusOK {
		t.Errorf("beside idle connections: %d, %v", status, err)
	}
	if !strings.Contains(r.log.String(), `msg="too many connections: `) {
		t.Errorf("the log says nothing: %s", &r.log)
	}
	servertest.Eventually(t, "a refusal", func() bool {
		hold(t, r.address(), 20, slow["body never sent"]) // one that sends late is ended as idle
		status, err := ask(t.Context(), r.url)
		return err == nil && status == http.StatusServiceUnavailable
	})
	for _, path := range []string{"/healthz", "/readyz"} {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		if status, _ := get(t, client, r.url+path); status != http.StatusOK {
			t.Errorf("%s beside busy connections: %d", path, status)
		}
	}
}

// TestOpenFiles has the system allow fewer open files than limits.connections. The server
// takes as many connections as it can, and says so.
func TestOpenFiles(t *testing.T) {
	dir := t.TempDir()
	r := &running{cmd: process(t, dir, "--listen", "127.0.0.1:0", "--config", write(t, dir, "c.yaml", slowConfig+"limits: {read: 1h}\n"))}
	r.cmd.Args = append([]string{"sh", "-c", `ulimit -n 200 && exec "$0" "$@"`}, append([]string{r.cmd.Path}, r.cmd.Args[1:]...)...)
	r.cmd.Path = "/bin/sh"
	r.begin(t)
	const most = 200 - 128 - gate.Extras
	warning := fmt.Sprintf("limits.connections is 1000, and the system allows 200 open files: the server takes %d connections", most)
	servertest.Eventually(t, warning, func() bool { return strings.Contains(r.log.String(), warning) })
	for range 300 {
		reach(t, r.address())
	}
	status, metrics := get(t, http.DefaultClient, r.url+"/metrics")
	if want := fmt.Sprintf("\nuidringd_connections %d\n", most); status != http.StatusOK || !strings.Contains(metrics, want) {
		t.Errorf("%d, the metrics lack %q: %s", status, want, metrics)
	}
}

// TestPerAddress has one address take its share of the places. Another is served.
func TestPerAddress(t *testing.T) {
	r := startConfig(t, slowConfig+"limits: {per_address: 10, read: 1h}\n")
	hold(t, r.address(), 100, slow["body never sent"])
	servertest.Eventually(t, "that the address is refused", func() bool {
		if _, err := ask(t.Context(), r.url); err != nil {
			return true
		}
		hold(t, r.address(), 1, slow["body never sent"]) // instead of one that was idle still, and made room
		return false
	})
	other := elsewhere(t)
	if status, _ := get(t, other, r.url+"/v1/ids"); status != http.StatusOK {
		t.Errorf("another address: %d", status)
	}
	_, metrics := get(t, other, r.url+"/metrics")
	if !strings.Contains(metrics, "\nuidringd_connections 11\n") || strings.Contains(metrics, "\nuidringd_connections_refused_total 0\n") {
		t.Errorf("the metrics are %s", metrics)
	}
}

// TestOnlyPlace has a request that waits for ids take the only place of a limit. What needs
// that place is refused until the first gives up. Probes need no place, and generators that
// have ids none of limits.waiting.
func TestOnlyPlace(t *testing.T) {
	const rare = "/v1/rare?n=2000"
	for limit, tt := range map[string]struct {
		needs string
		not   []string
	}{
		"requests": {"/v1/a", []string{"/healthz", "/readyz"}},
		"waiting":  {rare, []string{"/healthz", "/v1/a", "/v1/b", "/v1/c", "/v1/d"}},
	} {
		r := startConfig(t, `
stores: [{name: file, url: ids.db}]
generators:
  - {name: a, kind: cached, worker: "static:1"}
  - {name: b, kind: default, worker: "static:2"}
  - {name: c, kind: slots, worker: "static:3"}
  - {name: d, kind: segment, store: file, create: true, min_step: 10000000}
  - {name: rare, kind: default, worker: "static:4", layout: "31/23/9,unit=1h", ids_per_s: -1}
limits: {`+limit+`: 1, wait: 1h, write: 1h}
`)
		request := func(ctx context.Context, path string) (status int) {
			r, _ := http.NewRequestWithContext(ctx, http.MethodGet, r.url+path, nil)
			if answer, err := http.DefaultClient.Do(r); err == nil {
				status = answer.StatusCode
				answer.Body.Close()
			}
			return status
		}
		refused := func() bool {
			short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			return request(short, tt.needs) == http.StatusServiceUnavailable
		}
		first, giveUp := context.WithCancel(t.Context())
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			for first.Err() == nil { // the second may be there before it
				request(first, rare)
			}
		}()
		servertest.Eventually(t, "a refusal by limits."+limit, refused)
		for range 100 {
			for _, path := range tt.not {
				if status, text := get(t, http.DefaultClient, r.url+path); status != http.StatusOK {
					t.Fatalf("limits.%s: %s beside the request that waits: %d %s", limit, path, status, text)
				}
			}
		}
		giveUp()
		<-gone
		servertest.Eventually(t, "a place after the first", func() bool { return !refused() })
	}
}

// TestGreedy has a caller draw as many ids as it can. It gets half of what may be stamped
// ahead of the clock, and the metrics name it. Another caller is served.
func TestGreedy(t *testing.T) {
	r := startConfig(t, `
generators:
  - {name: ids, kind: cached, worker: "static:1"}
tokens:
  - {name: greedy, sha256: `+hash("greedy")+`, generators: [ids]}
  - {name: modest, sha256: `+hash("modest")+`, generators: [ids], operations: true}
`)
	const most = 30 * 8192 // half of max_borrow
	began, drawn, after := time.Now(), 0, ""
	for after == "" && drawn < 2*most {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/v1/ids/runs?n=10000", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer greedy")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		switch answer.StatusCode {
		case http.StatusOK:
			drawn += 10_000
		case http.StatusTooManyRequests:
			after = answer.Header.Get("Retry-After")
		default:
			t.Fatalf("%d after %d ids", answer.StatusCode, drawn)
		}
	}
	late := int(time.Since(began).Seconds()+1) * 4096
	if seconds, err := strconv.Atoi(after); drawn < most-10_000 || drawn > most+late || err != nil || seconds < 1 || seconds > 3 {
		t.Errorf("%d ids, Retry-After %s; want %d ids, and 1 to 3 seconds", drawn, after, most)
	}
	if status, text := get(t, http.DefaultClient, r.url+"/v1/ids?n=10000", "Authorization: Bearer modest"); status != http.StatusOK {
		t.Errorf("the other caller: %d %s", status, text)
	}
	_, metrics := get(t, http.DefaultClient, r.url+"/metrics", "Authorization: Bearer modest")
	for _, want := range []string{`{caller="greedy",code="429"} 1`, `{caller="modest",code="200"} 1`} {
		if !strings.Contains(metrics, "\nuidringd_caller_requests_total"+want+"\n") {
			t.Errorf("the metrics lack %s", want)
		}
	}
}

// TestHeaderBytes sends headers of two sizes, by HTTP/1 and HTTP/2. net/http allows 4 KiB
// above the limit.
func TestHeaderBytes(t *testing.T) {
	r := startConfig(t, slowConfig+"limits: {header_bytes: 8192}\n")
	value := strings.Repeat("x", 1000)
	for n, want := range map[int]string{7: "200", 16: "431"} {
		conn := reach(t, r.address())
		if _, err := io.WriteString(conn, "GET /v1/ids HTTP/1.1\r\nHost: x\r\n"+strings.Repeat("X: "+value+"\r\n", n)+"\r\n"); err != nil {
			t.Fatal(err)
		}
		line := make([]byte, len("HTTP/1.1 200"))
		if _, err := io.ReadFull(conn, line); string(line) != "HTTP/1.1 "+want {
			t.Errorf("a header of %d kB: %s, %v; want %s", n, line, err, want)
		}

		framer := begin(reach(t, r.address()), 1<<16)
		block := header("GET", "/v1/ids", slices.Repeat([]hpack.HeaderField{{Name: "x", Value: value}}, n)...)
		_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block, EndHeaders: true, EndStream: true})
		framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		for status := ""; status == ""; {
			frame, err := framer.ReadFrame()
			if err != nil {
				t.Fatal(err)
			}
			if headers, ok := frame.(*http2.MetaHeadersFrame); ok {
				if status = headers.PseudoValue("status"); status != want {
					t.Errorf("HTTP/2, a header of %d kB: %s, want %s", n, status, want)
				}
			}
		}
	}
}

// TestStreams has the server tell how many requests a connection of HTTP/2 may have at
// once. net/http refuses more.
func TestStreams(t *testing.T) {
	r := start(t, t.TempDir())
	frame, err := begin(reach(t, r.address()), 1<<16).ReadFrame()
	if err != nil {
		t.Fatal(err)
	}
	most, ok := frame.(*http2.SettingsFrame).Value(http2.SettingMaxConcurrentStreams)
	if most != 20 || !ok {
		t.Errorf("%d streams, %v; want 20", most, ok)
	}
}

// TestMethods sends a method that is not for the path.
func TestMethods(t *testing.T) {
	r := start(t, t.TempDir())
	for path, want := range map[string]string{
		"/": "GET, HEAD", "/healthz": "GET, HEAD", "/readyz": "GET, HEAD", "/metrics": "GET, HEAD", "/openapi.yaml": "GET, HEAD",
		"/v1/ids": "GET, HEAD", "/v1/ids/runs": "POST", "/status/": "GET, HEAD", "/uidring.v1.IdService/Next": "POST",
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, r.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Body.Close(); answer.StatusCode != http.StatusMethodNotAllowed || answer.Header.Get("Allow") != want {
			t.Errorf("PUT %s: %d, Allow %q; want 405, %q", path, answer.StatusCode, answer.Header.Get("Allow"), want)
		}
	}
}
