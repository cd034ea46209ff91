package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// TestConnections has a second client wait while the first one has the only connection.
func TestConnections(t *testing.T) {
	dir := t.TempDir()
	r := start(t, dir, "--config", write(t, dir, "c.yaml", slowConfig+"limits: {connections: 1}\n"))
	first := &http.Client{Transport: new(http.Transport)} // of one connection, as it asks one after another
	defer first.CloseIdleConnections()
	get(t, first, r.url+"/healthz")
	answered := make(chan error, 1)
	go func() {
		status, err := ask(t.Context(), r.url)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("status %d", status)
		}
		answered <- err
	}()
	for range 1000 {
		get(t, first, r.url+"/healthz")
	}
	select {
	case err := <-answered:
		t.Fatalf("the second client is answered: %v", err)
	default:
	}
	first.CloseIdleConnections()
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

// TestWaiting has a request wait for ids in the only place. Another that would have to wait
// is refused until the first gives up. Generators that have ids answer all the time.
func TestWaiting(t *testing.T) {
	dir := t.TempDir()
	r := start(t, dir, "--config", write(t, dir, "c.yaml", `
stores: [{name: file, url: ids.db}]
generators:
  - {name: a, kind: cached, worker: "static:1"}
  - {name: b, kind: default, worker: "static:2"}
  - {name: c, kind: slots, worker: "static:3"}
  - {name: d, kind: segment, store: file, create: true, min_step: 10000000}
  - {name: rare, kind: default, worker: "static:4", layout: "31/23/9,unit=1h"}
limits: {waiting: 1, wait: 1h, write: 1h}
`))
	gone := make(chan struct{})
	wait := func(ctx context.Context) (status int) {
		request, _ := http.NewRequestWithContext(ctx, http.MethodGet, r.url+"/v1/rare?n=2000", nil)
		if answer, err := http.DefaultClient.Do(request); err == nil {
			status = answer.StatusCode
			answer.Body.Close()
		}
		return status
	}
	first, giveUp := context.WithCancel(t.Context())
	go func() {
		defer close(gone)
		for first.Err() == nil { // the second may be there before it
			wait(first)
		}
	}()
	until := func(what string, reached func(ctx context.Context) bool) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for !reached(ctx) {
			if ctx.Err() != nil {
				t.Fatal(what)
			}
		}
	}
	refused := func(ctx context.Context) bool {
		short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		return wait(short) == http.StatusServiceUnavailable
	}
	until("a second request may wait", refused)
	for range 100 {
		for _, path := range []string{"/v1/a", "/v1/b", "/v1/c", "/v1/d", "/healthz"} {
			if status, text := get(t, http.DefaultClient, r.url+path); status != http.StatusOK {
				t.Fatalf("%s beside the request that waits: %d %s", path, status, text)
			}
		}
	}
	giveUp()
	<-gone
	until("no request may wait after the first", func(ctx context.Context) bool { return !refused(ctx) })
}

// TestHeaderBytes sends headers of two sizes, by HTTP/1 and HTTP/2. net/http allows 4 KiB
// above the limit.
func TestHeaderBytes(t *testing.T) {
	dir := t.TempDir()
	r := start(t, dir, "--config", write(t, dir, "c.yaml", slowConfig+"limits: {header_bytes: 8192}\n"))
	value := strings.Repeat("x", 1000)
	for n, want := range map[int]string{7: "200", 16: "431"} {
		conn := reach(t, r)
		if _, err := io.WriteString(conn, "GET /v1/ids HTTP/1.1\r\nHost: x\r\n"+strings.Repeat("X: "+value+"\r\n", n)+"\r\n"); err != nil {
			t.Fatal(err)
		}
		line := make([]byte, len("HTTP/1.1 200"))
		if _, err := io.ReadFull(conn, line); string(line) != "HTTP/1.1 "+want {
			t.Errorf("a header of %d kB: %s, %v; want %s", n, line, err, want)
		}

		framer := begin(reach(t, r), 1<<16)
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
	frame, err := begin(reach(t, r), 1<<16).ReadFrame()
	if err != nil {
		t.Fatal(err)
	}
	most, ok := frame.(*http2.SettingsFrame).Value(http2.SettingMaxConcurrentStreams)
	if most != 100 || !ok {
		t.Errorf("%d streams, %v; want 100", most, ok)
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
