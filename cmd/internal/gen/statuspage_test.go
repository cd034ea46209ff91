package gen_test

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

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/uid/segment/segmentsql"
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
		s.code <- uidring.Run(ctx, nil, ids, log, append([]string{"gen", "--http", "127.0.0.1:0"}, args...)...)
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
	clitest.Elsewhere(t)
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
					Name  string `json:"name"`
					Clock struct {
						Worker int64 `json:"worker"`
					} `json:"clock"`
				} `json:"generators"`
			}
			if err := json.Unmarshal(body, &stats); err != nil || len(stats.Generators) != 1 || stats.Generators[0].Name != generator || stats.Generators[0].Clock.Worker != 7 {
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

// A web page elsewhere whose name resolves to this address reads nothing.
func TestGenPageHost(t *testing.T) {
	clitest.Elsewhere(t)
	s := streamWithPage(t, "-n", "3", "--worker", "static:1", "--layout", hourly, "--max-borrow", "0")
	go func() { _, _ = io.Copy(io.Discard, s.stdout) }()
	client := &http.Client{Transport: &http.Transport{}}
	for host, want := range map[string]int{"evil.example": http.StatusForbidden, "localhost": http.StatusOK} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.address+"/stats.json", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("host %s: %s, want %d", host, response.Status, want)
		}
	}
	s.cancel()
	s.end(t, 1)
	client.CloseIdleConnections()
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
	clitest.Elsewhere(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if got := uidring.Invoke(t, "", "gen", "--http", address); got.Code != 1 || !strings.Contains(got.Stderr, address) || got.Stdout != "" {
		t.Errorf("%+v, want that the port is in use", got)
	}
	if files, err := os.ReadDir("."); err != nil || len(files) > 0 {
		t.Errorf("left %v, %v", files, err)
	}
	l.Close()
	for range 2 {
		got := uidring.Invoke(t, "", "gen", "--http", address, "--dsn", "no/app.db")
		if got.Code != 1 || strings.Contains(got.Stderr, "--http") || strings.Contains(got.Stderr, "status page") {
			t.Errorf("%+v, want that the database is the trouble", got)
		}
	}
}

// The page shows a segment too.
func TestGenPageSegment(t *testing.T) {
	clitest.Elsewhere(t)
	db := clitest.Open(t, "ids.db")
	if err := segmentsql.LeafAlloc(db.DB, segmentsql.Config{}).Create(t.Context(), "orders", 1, 10); err != nil {
		t.Fatal(err)
	}
	s := streamWithPage(t, "-n", "1000000", "--segment", "orders", "--dsn", "ids.db")
	client := &http.Client{Transport: &http.Transport{}}
	response, err := client.Get("http://" + s.address + "/stats.json")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil || !strings.Contains(string(body), `"tag":"orders"`) {
		t.Errorf("%s, %v", body, err)
	}
	ids, err := io.ReadAll(s.stdout)
	if err != nil || !bytes.HasSuffix(ids, []byte("\n1000000\n")) {
		t.Errorf("%d bytes of ids, %v; want the last to be 1000000", len(ids), err)
	}
	s.end(t, 0)
	client.CloseIdleConnections()
	s.cancel()
}
