package gen_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

// streaming is gen --http at work.
type streaming struct {
	address string
	code    chan int
	cancel  context.CancelFunc
	stdout  *bufio.Reader
	ids     bytes.Buffer // the rest of stdout, in the end
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

// get returns what the page answers at a path.
func (s *streaming) get(t *testing.T, host, path string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = host
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// end waits for the command, and sees that the address is free, also when someone has a
// connection open.
func (s *streaming) end(t *testing.T, want int) {
	t.Helper()
	idle, err := net.Dial("tcp", s.address) // says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	if want != 0 {
		s.cancel()
	}
	if _, err := io.Copy(&s.ids, s.stdout); err != nil {
		t.Error(err)
	}
	if code := <-s.code; code != want {
		t.Errorf("exit code %d, want %d", code, want)
	}
	s.cancel()
	l, err := net.Listen("tcp", s.address)
	if err != nil {
		t.Fatalf("the port is not free: %v", err)
	}
	l.Close()
}

// The page answers while ids are made, and is gone with them.
func TestGenPage(t *testing.T) {
	clitest.Elsewhere(t)
	db := clitest.Open(t, "ids.db")
	if err := segmentsql.LeafAlloc(db.DB, segmentsql.Config{}).Create(t.Context(), "orders", 1, 10); err != nil {
		t.Fatal(err)
	}
	const clock = "--layout 41/10/12,unit=1ms --worker static:7 --generator "
	for args, want := range map[string][]string{
		clock + "cached":                {`"name":"cached"`, `"worker":7`},
		clock + "default":               {`"name":"default"`, `"worker":7`},
		"--segment orders --dsn ids.db": {`"name":"orders"`, `"tag":"orders"`},
	} {
		s := streamWithPage(t, append(strings.Fields(args), "-n", "1000000")...)
		for path, want := range map[string][]string{"/": {"<html"}, "/page.css": {"{"}, "/stats.json": want} {
			status, body := s.get(t, "", path)
			for _, part := range want {
				if status != http.StatusOK || !strings.Contains(body, part) {
					t.Errorf("%s: %s is %d, %s; want %s", args, path, status, body, part)
				}
			}
		}
		s.end(t, 0)
		if n := bytes.Count(s.ids.Bytes(), []byte("\n")); n != 1000000 {
			t.Errorf("%s: %d ids", args, n)
		}
	}
}

// An interrupt ends the page of a stream that waits. A web page elsewhere whose name resolves
// to this address reads nothing.
func TestGenPageInterrupted(t *testing.T) {
	s := streamWithPage(t, "-n", "3", "--worker", "static:1", "--layout", hourly, "--max-borrow", "0")
	if _, err := s.stdout.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]int{"evil.example": http.StatusForbidden, "localhost": http.StatusOK} {
		if status, _ := s.get(t, host, "/stats.json"); status != want {
			t.Errorf("host %s: %d, want %d", host, status, want)
		}
	}
	s.end(t, 1)
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
