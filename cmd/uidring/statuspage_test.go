package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// streaming is gen --http at work.
type streaming struct {
	address string
	code    chan int
	cancel  context.CancelFunc
	stdout  *bufio.Reader
}

func streamWithPage(t *testing.T, args ...string) *streaming {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stdout, ids := io.Pipe()
	stderr, log := io.Pipe()
	s := &streaming{code: make(chan int, 1), cancel: cancel, stdout: bufio.NewReader(stdout)}
	go func() {
		s.code <- run(ctx, append([]string{"gen", "--http", "127.0.0.1:0"}, args...), nil, ids, log)
		ids.Close()
		log.Close()
	}()
	lines := bufio.NewReader(stderr)
	line, err := lines.ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "uidring: status page at http://")
	if err != nil || !ok || strings.Contains(address, ":0/") {
		t.Fatalf("%q, %v; want the address", line, err)
	}
	s.address = strings.TrimSuffix(address, "/")
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return s
}

// end waits for the command, and sees that the address is free.
func (s *streaming) end(t *testing.T, want int) {
	t.Helper()
	if code := <-s.code; code != want {
		t.Errorf("exit code %d, want %d", code, want)
	}
	l, err := net.Listen("tcp", s.address)
	if err != nil {
		t.Fatalf("the port is not free: %v", err)
	}
	l.Close()
}

// The page answers while ids are made, and is gone with them, also when someone
// has a connection open.
func TestGenPage(t *testing.T) {
	elsewhere(t)
	for _, generator := range []string{"cached", "default"} {
		s := streamWithPage(t, "-n", "1000000", "--generator", generator, "--layout", "41/10/12,unit=1ms", "--worker", "static:7")
		client := &http.Client{Transport: &http.Transport{}}
		for _, path := range []string{"/", "/stats.json", "/page.css"} {
			response, err := client.Get("http://" + s.address + path)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			response.Body.Close()
			if err != nil || response.StatusCode != http.StatusOK {
				t.Errorf("%s: %s, %v", path, response.Status, err)
			}
			if path != "/stats.json" {
				continue
			}
			var stats struct {
				Generators []struct {
					Name   string `json:"name"`
					Worker int64  `json:"worker"`
				} `json:"generators"`
			}
			if err := json.Unmarshal(body, &stats); err != nil || len(stats.Generators) != 1 || stats.Generators[0].Name != generator || stats.Generators[0].Worker != 7 {
				t.Errorf("%s, %v; want %s", body, err, generator)
			}
		}
		idle, err := net.Dial("tcp", s.address) // says nothing
		if err != nil {
			t.Fatal(err)
		}
		ids, err := io.ReadAll(s.stdout)
		if err != nil || bytes.Count(ids, []byte("\n")) != 1000000 {
			t.Errorf("%d ids, %v", bytes.Count(ids, []byte("\n")), err)
		}
		s.end(t, 0)
		idle.Close()
		client.CloseIdleConnections()
		s.cancel()
	}
}

// An interrupt ends the page of a stream that waits.
func TestGenPageInterrupted(t *testing.T) {
	s := streamWithPage(t, "-n", "3", "--worker", "static:1", "--layout", hourly, "--max-borrow", "0")
	if _, err := s.stdout.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, s.stdout) }()
	client := &http.Client{Transport: &http.Transport{}, Timeout: 10 * time.Second}
	response, err := client.Get("http://" + s.address)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	s.cancel()
	s.end(t, 1)
	client.CloseIdleConnections()
}

// A port in use costs no worker number, and no number leaves the port free.
func TestGenPageRefused(t *testing.T) {
	elsewhere(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if got := invoke(t, "", "gen", "--http", address); got.code != 1 || !strings.Contains(got.stderr, address) || got.stdout != "" {
		t.Errorf("%+v, want that the port is in use", got)
	}
	if files, err := os.ReadDir("."); err != nil || len(files) > 0 {
		t.Errorf("left %v, %v", files, err)
	}
	l.Close()
	for range 2 {
		got := invoke(t, "", "gen", "--http", address, "--dsn", "no/app.db")
		if got.code != 1 || strings.Contains(got.stderr, "--http") || strings.Contains(got.stderr, "status page") {
			t.Errorf("%+v, want that the database is the trouble", got)
		}
	}
}
