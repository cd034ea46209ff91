package resp_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/uidringd/internal/resp"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// TestMalformed sends what is not a command. The server says why, ends the connection before it reads
// what was announced, and draws no id.
func TestMalformed(t *testing.T) {
	s := serve(t, service.Config{}, resp.Config{MaxBytes: 1024})
	var clients sync.WaitGroup
	tooLong := "-ERR Protocol error: the command has more than 1024 bytes, the server's limits.header_bytes\r\n"
	for sent, want := range map[string]string{
		"*1\r\n$1025\r\n":                              "-ERR Protocol error: invalid bulk length: want 1024 at most\r\n",
		"*1\r\n$9223372036854775807\r\n":               "-ERR Protocol error: invalid bulk length: want 1024 at most\r\n",
		"*2\r\n$4\r\nINCR\r\n$1020\r\n":                tooLong,
		"*2\r\n$4\r\nINCR\r\n$1002\r\n":                tooLong, // by a byte
		"*1\r\n$-1\r\n":                                "-ERR Protocol error: invalid bulk length\r\n",
		"*1\r\n$-9223372036854775808\r\n":              "-ERR Protocol error: invalid bulk length\r\n",
		"*1\r\n$x\r\n":                                 "-ERR Protocol error: invalid bulk length: want 1024 at most\r\n",
		"*1\r\n$1\nx":                                  "-ERR Protocol error: invalid bulk length: want 1024 at most\r\n",
		"*1\r\n$1\rxx":                                 "-ERR Protocol error: invalid bulk length: want 1024 at most\r\n",
		"*1\r\n$\r\n":                                  "-ERR Protocol error: invalid bulk length: want 1024 at most\r\n",
		"*1000000\r\n":                                 "-ERR Protocol error: invalid multibulk length: want 1024 at most\r\n",
		"*99999999999999999999999999\r\n":              "-ERR Protocol error: invalid multibulk length: want 1024 at most\r\n",
		"*x\r\n":                                       "-ERR Protocol error: invalid multibulk length: want 1024 at most\r\n",
		"*1\r\n*1\r\n$1\r\na\r\n":                      "-ERR Protocol error: expected '$', got '*'\r\n",
		"*1\r\n:1\r\n":                                 "-ERR Protocol error: expected '$', got ':'\r\n",
		"*1\r\n$4\r\nPINGxx":                           "-ERR Protocol error: a bulk string is longer than its length\r\n",
		"*" + strings.Repeat("0", 9000):                tooLong,
		"*1\r\n$" + strings.Repeat("0", 9000):          tooLong,
		strings.Repeat("a", 1024):                      tooLong,
		"*600\r\n" + strings.Repeat("$0\r\n\r\n", 600): tooLong,
		"\x16\x03\x01\x02\x00\x01":                     "-ERR the client speaks TLS, but this port does not\r\n",
		"GET /v1/ids HTTP/1.1\r\nHost: x\r\n\r\n": "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 90\r\nConnection: close\r\n\r\n" +
			"This port speaks the Redis protocol. HTTP, gRPC and Connect are at http://127.0.0.1:8080/\n",
		"POST / HTTP/1.1\r\n":              "HTTP/1.1 400 Bad Request\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n": "HTTP/1.1 400 Bad Request\r\n",
		// Of other protocols, with commands in their bodies.
		"POST /a b HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n": "HTTP/1.1 400 ", // PHP's file_get_contents
		"INCR orders HTTP/1.1\r\nHost: x\r\n\r\n":                     "HTTP/1.1 400 ", // a method of the caller
		"get /orders http/1.1\r\nhost: x\r\n\r\n":                     "HTTP/1.1 400 ",
		"GET /a b\r\n": "-ERR Protocol error: ",
		"Host: x\r\n":  "-ERR Protocol error: ",
		"INFO sip:a@b SIP/2.0\r\nVia: SIP/2.0/TCP a\r\n\r\n": "$",
		"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n":             "-ERR Protocol error: ",
		"\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\xc0\x00":     "-ERR Protocol error: ", // PROXY, version 2
		"set a 0 0 1\r\nb\r\n":                               "-ERR Protocol error: ",
		"PING a b\r\n":                                       "-ERR Protocol error: ",
		"INCR\r\n":                                           "-ERR Protocol error: ",
	} {
		c := s.dial(t)
		clients.Go(func() {
			io.WriteString(c.Conn, sent+"INCR orders\r\n"+array("INCR", "orders")+strings.Repeat("x", 100_000))
		}) // ends with the connection
		clients.Go(func() {
			text, _ := io.ReadAll(c)
			if !strings.HasPrefix(string(text), want) || want != "$" && strings.Count(string(text), "\n") > 6 {
				t.Errorf("%.40q gets %q, want %q", sent, text, want)
			}
		})
	}
	clients.Wait()
	if n := s.Gets.Load(); n > 0 {
		t.Errorf("%d draws", n)
	}
}

// TestWords has commands that persons type, and what means nothing.
func TestWords(t *testing.T) {
	c := serve(t, service.Config{}, resp.Config{}).dial(t)
	c.send("INCR orders\r\n\r\n\n  GET\torders \n*0\r\n*-1\r\nPING\r\n" + strings.Repeat(" a", 1025) + "\n")
	c.expect(":1\r\n$1\r\n2\r\n+PONG\r\n-ERR Protocol error: a line has more than 1024 words\r\n")
}

// TestPipelines sends commands in parts of each size. INCRs that follow each other are drawn
// at once, and count one by one.
func TestPipelines(t *testing.T) {
	commands, answers := "", ""
	for id := 1; id <= 30; id += 3 {
		commands += array("INCR", "orders") + array("incr", "orders") + array("PING") + "INCR orders\n" + array("INCR", "none")
		answers += fmt.Sprintf(":%d\r\n:%d\r\n+PONG\r\n:%d\r\n-ERR there is no generator \"none\"\r\n", id, id+1, id+2)
	}
	for _, size := range []int{1, 2, 3, 7, 100, len(commands)} {
		s := serve(t, service.Config{}, resp.Config{})
		c := s.dial(t)
		for at := 0; at < len(commands); at += size {
			c.send(commands[at:min(at+size, len(commands))])
		}
		c.expect(answers)
		counts := map[string]int{}
		c.send(array("QUIT"))
		c.expect("+OK\r\n")
		c.ends()
		s.mu.Lock()
		for _, r := range s.requests {
			if r.Failed == nil {
				counts[r.Route] += r.Count
			} else {
				counts["failed"] += r.Count
			}
		}
		s.mu.Unlock()
		if counts["redis INCR"] != 30 || counts["failed"] != 10 || counts["redis PING"] != 10 {
			t.Errorf("in parts of %d bytes: %v", size, counts)
		}
	}
	s := serve(t, service.Config{}, resp.Config{})
	c := s.dial(t)
	c.send(strings.Repeat(array("INCR", "orders"), 100))
	for id := range 100 {
		c.expect(fmt.Sprintf(":%d\r\n", id+1))
	}
	if n := s.Gets.Load(); n > 10 { // the commands may arrive in parts
		t.Errorf("100 INCRs together take %d draws", n)
	}
}

// TestRates shows that commands in a pipeline count one by one towards the limits of a caller,
// as if each were sent alone.
func TestRates(t *testing.T) {
	answers := func(c *client, n int, begin string) {
		t.Helper()
		for _, line := range c.lines(n) {
			if !strings.HasPrefix(line, begin) {
				t.Fatalf("%q, want %q", line, begin)
			}
		}
	}
	c := serve(t, service.Config{Limits: service.Limits{Requests: 1e-9, Burst: 20}}, resp.Config{}).dial(t)
	c.send(strings.Repeat(array("INCR", "orders"), 30))
	answers(c, 20, ":")
	answers(c, 10, "-TRYAGAIN more than 1e-09 requests a second, or 20 at once")
	c.send(array("PING") + array("GET", "orders"))
	c.expect("+PONG\r\n")
	answers(c, 1, "-TRYAGAIN more than 1e-09 requests")

	c = serve(t, service.Config{}, resp.Config{}).dial(t) // 5 of a request, 10 at once
	c.send(strings.Repeat(array("INCR", "rare"), 30))
	answers(c, 10, ":")
	answers(c, 20, `-TRYAGAIN more than 1e-09 ids of "rare" a second`)

	c = serve(t, service.Config{}, resp.Config{}).dial(t)
	for _, n := range []int{4, 4, 2} { // of the last four together, the first two
		c.send(strings.Repeat(array("INCR", "rare"), 4))
		answers(c, n, ":")
	}
	answers(c, 2, `-TRYAGAIN more than 1e-09 ids of "rare" a second`)
}

// TestSlowCommand has a client send a command byte by byte. The time for the rest counts from
// the command's begin, however often bytes come. The next command has its own time,
// also if its begin comes with the end of the one before.
func TestSlowCommand(t *testing.T) {
	const read = 100 * time.Millisecond
	inMemory(t, service.Config{}, resp.Config{Read: read}, func(_ *server, conn net.Conn) {
		go io.Copy(io.Discard, conn)
		for _, part := range []string{"P", "ING\r\n", "P", "ING\r\nP", "ING\r\nP", "ING\r\n"} {
			if _, err := io.WriteString(conn, part); err != nil {
				t.Fatalf("%q: %v", part, err)
			}
			time.Sleep(read * 3 / 4)
		}
		sent := 0
		for sent < 10 {
			if _, err := io.WriteString(conn, "P"); err != nil {
				break
			}
			sent++
			time.Sleep(read * 3 / 4)
		}
		if sent != 2 {
			t.Errorf("%d parts were read, want those of %v", sent, read)
		}
	})
}
