package resp_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/cmd/uidringd/internal/resp"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
)

// TestTokens shows who may do what, with each way to authenticate.
func TestTokens(t *testing.T) {
	s := serve(t, service.Config{Tokens: []service.Token{token("some", "orders", "order-*"), token("all")}}, resp.Config{})
	const (
		missing = "-NOAUTH Authentication required.\r\n"
		wrong   = "-WRONGPASS invalid username-password pair or user is disabled.\r\n"
	)
	c := s.dial(t)
	for _, command := range []string{"INCR orders", "GET orders", "SET a b", "INFO", "CLIENT SETNAME a", "ECHO a", "INCR", "HELLO 3"} {
		c.send(array(strings.Fields(command)...))
		c.expect(missing)
	}
	for _, test := range []struct{ command, answer string }{
		{"PING", "+PONG\r\n"},
		{"AUTH other", wrong},
		{"AUTH all some", wrong},
		{"HELLO 3 AUTH default other", wrong},
		{"INCR orders", missing},
		{"AUTH some", "+OK\r\n"},
		{"INCR orders", ":1\r\n"},
		{"AUTH other", wrong},
		{"INCR orders", ":2\r\n"},
		{"INCR ids", "-NOPERM the token is not for generator \"ids\"\r\n"},
		{"AUTH some some", "+OK\r\n"},
		{"INCR orders", ":3\r\n"},
		{"AUTH default all", "+OK\r\n"},
		{"INCR nosuch", "-ERR there is no generator \"nosuch\"\r\n"},
	} {
		c.send(array(strings.Fields(test.command)...))
		c.expect(test.answer)
	}
	c = s.dial(t)
	c.send(array("HELLO", "2", "AUTH", "default", "some", "SETNAME", "me") + array("INCR", "orders"))
	c.expect("*14\r\n")
	if text, _ := c.ReadString(':'); text == "" {
		t.Fatal("no answer")
	}
	for _, r := range s.requests {
		if strings.Contains(r.Route+r.Remote, "some") {
			t.Errorf("%+v has a token", r)
		}
	}
}

// TestGuessing sends wrong tokens until no more are looked up. A connection that guesses may not draw.
func TestGuessing(t *testing.T) {
	c := serve(t, service.Config{Tokens: []service.Token{token("a")}}, resp.Config{}).dial(t)
	c.send(strings.Repeat(array("AUTH", "x"), 60) + array("INCR", "orders"))
	lines := c.lines(61)
	if guess, draw := lines[59], lines[60]; !strings.HasPrefix(guess, "-TRYAGAIN more than 5 wrong tokens a second") || draw != "-NOAUTH Authentication required.\r\n" {
		t.Errorf("the last guess gets %q, and INCR %q", guess, draw)
	}
}

// TestReady shows that PING says whether the server should get requests. Other commands are answered,
// and INFO has no client wait with them.
func TestReady(t *testing.T) {
	s := serve(t, service.Config{}, resp.Config{})
	s.fault = errors.New("generator \"ids\" is required")
	c := s.dial(t)
	c.send(array("PING") + array("INCR", "orders") + array("INFO", "persistence"))
	c.expect("-LOADING generator \"ids\" is required\r\n:1\r\n$134\r\n# Server\r\nredis_version:7.2.0\r\nserver_name:uidringd\r\nredis_mode:standalone\r\n\r\n# Persistence\r\nloading:0\r\n")
}

// TestBusy shows what a host that refuses commands causes.
func TestBusy(t *testing.T) {
	s := serve(t, service.Config{}, resp.Config{})
	s.refused = &service.Error{Kind: service.Unavailable, Detail: "too many"}
	c := s.dial(t)
	c.send(array("PING") + array("INCR", "orders") + array("INCR", "orders") + array("GET", "orders"))
	c.expect("+PONG\r\n")
	c.expect(strings.Repeat("-TRYAGAIN too many\r\n", 3))
	c.ends()
	s.refused = errors.New("far too many")
	c = s.dial(t)
	c.send(array("PING"))
	c.ends()
	if n, running := s.Gets.Load(), s.running.Load(); n > 0 || running != 0 {
		t.Errorf("%d draws, and %d commands that the host has not been told the end of", n, running)
	}
}

// TestBusyConnections shows when a connection is busy: while it has a whole command of a caller who
// may send it. Half a command, and commands without a token, leave it idle. No answer is read.
func TestBusyConnections(t *testing.T) {
	for _, test := range []struct {
		sent string
		busy int
	}{
		{"*2\r\n$3\r\nGET\r\n$5\r\nhang", 0},
		{array("AUTH", "a") + "*2\r\n$3\r\nGET\r\n$5\r\nhang", 0},
		{array("GET", "hangs") + array("INCR", "hangs") + array("ECHO", "a") + array("PING") + array("AUTH", "b"), 0},
		{array("AUTH", "a") + array("GET", "hangs"), 1},
		{array("AUTH", "a") + array("INCR", "hangs"), 1},
		{array("AUTH", "a") + array("CLIENT", "SETNAME", "a"), 1},
	} {
		inMemory(t, service.Config{Tokens: []service.Token{token("a")}}, resp.Config{}, func(s *server, conn net.Conn) {
			_, err := io.WriteString(conn, test.sent)
			need.Must(t, err)
			if synctest.Wait(); s.busy() != test.busy {
				t.Errorf("after %q %d connections are busy, want %d", test.sent, s.busy(), test.busy)
			}
			go io.Copy(io.Discard, conn)
			if time.Sleep(time.Minute); s.busy() != 0 {
				t.Errorf("after the answers to %q the connection is busy", test.sent)
			}
			_, _ = io.WriteString(conn, array("GET", "hangs")) // unless it has ended
			if synctest.Wait(); s.busy() != test.busy {
				t.Errorf("after %q and one more command, %d connections are busy, want %d", test.sent, s.busy(), test.busy)
			}
		})
	}
}

// Shutdown ends the commands that wait for ids.
func TestShutdownEndsDraws(t *testing.T) {
	for _, command := range []string{array("INCR", "hangs"), array("INCRBY", "hangs", "2"), array("GET", "hangs"), array("UID.RUNS", "hangs", "2")} {
		inMemory(t, service.Config{}, resp.Config{}, func(s *server, conn net.Conn) {
			go io.Copy(io.Discard, conn)
			_, err := io.WriteString(conn, command)
			need.Must(t, err)
			synctest.Wait()
			ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
			defer cancel()
			began := time.Now()
			if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 100*time.Millisecond {
				t.Errorf("%q: %v after %v", command, err, time.Since(began))
			}
		})
	}
}

// TestPanic shows that a command that panics ends its own connection alone.
func TestPanic(t *testing.T) {
	s := serve(t, service.Config{}, resp.Config{})
	c, other := s.dial(t), s.dial(t)
	c.send(array("GET", "panics"))
	c.ends()
	other.send(array("INCR", "orders"))
	other.expect(":1\r\n")
	servertest.Eventually(t, "no request is under way", func() bool { return s.running.Load() == 0 })
}
