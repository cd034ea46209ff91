package resp_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/uidringd/internal/resp"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// fakeConn is a client that sends bytes in parts, and keeps the answers.
type fakeConn struct {
	net.Conn // of no use
	sends    []byte
	part     int
	from     [4]byte // its address
	got      bytes.Buffer
	widest   int // greatest buffer that the server read into
	once     sync.Once
	closed   chan struct{}
}

func (s *fakeConn) Read(b []byte) (int, error) {
	s.widest = max(s.widest, len(b))
	n := copy(b[:min(len(b), s.part)], s.sends)
	s.sends = s.sends[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (s *fakeConn) Write(b []byte) (int, error)      { return s.got.Write(b) }
func (s *fakeConn) Close() error                     { s.once.Do(func() { close(s.closed) }); return nil }
func (s *fakeConn) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: s.from[:], Port: 1} }
func (*fakeConn) SetReadDeadline(time.Time) error    { return nil }
func (*fakeConn) SetWriteDeadline(t time.Time) error { return nil }

// digits are ids, and lengths of ids.
var digits = regexp.MustCompile(`[0-9]+`)

// protocolError is one whose text depends on how much arrived at once.
var protocolError = regexp.MustCompile(`-ERR Protocol error: .*`)

// FuzzCommands sends any bytes, as one part and in small parts. The answers are of the protocol,
// and the same but for ids. The server reads into no buffer beyond its bound.
func FuzzCommands(f *testing.F) {
	for _, command := range []string{
		"INCR orders", "INCRBY orders 10", "GET ids", "UID.RUNS orders 3", "AUTH a", "AUTH default a",
		"HELLO 3 AUTH default a SETNAME x", "HELLO 2", "PING", "ECHO x", "CLIENT SETINFO LIB-NAME x", "INFO", "QUIT", "SET a b",
	} {
		f.Add([]byte(array("AUTH", "a")+array(strings.Fields(command)...)+array("INCR", "orders")), 7)
		f.Add([]byte("AUTH a\n"+command+"\r\n"+command+"\n"), 2)
	}
	f.Add([]byte("*1\r\n$9223372036854775807\r\n"), 1)
	f.Add([]byte("*3\r\n$4\r\nMGET\r\n$0\r\n\r\n*"), 3)
	f.Add([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), 5)
	const most = 9000 // more than the 8 KiB of io.Discard
	s, say := sayer(f, resp.Config{MaxBytes: most}, token("a"))
	f.Fuzz(func(t *testing.T, sends []byte, part int) {
		for _, name := range []string{"panics", "rare", "hangs"} { // their answers take long, or are not the same twice
			if bytes.Contains(sends, []byte(name)) {
				return
			}
		}
		if part < 1 {
			return
		}
		var answers [2]string
		for i, part := range []int{len(sends) + 1, part} {
			c := say(sends, part)
			if c.widest > most {
				t.Fatalf("a buffer of %d bytes", c.widest)
			}
			s.mu.Lock()
			s.requests = nil
			s.mu.Unlock()
			text := c.got.String()
			if before, http, found := strings.Cut(text, "HTTP/1.1 400 Bad Request\r\n"); found && strings.HasSuffix(http, "8080/\n") {
				text = before
			}
			check(t, text)
			answers[i] = digits.ReplaceAllString(protocolError.ReplaceAllString(c.got.String(), "-"), "N")
		}
		if answers[0] != answers[1] {
			t.Fatalf("%q gets %q at once, and %q in parts of %d bytes", sends, answers[0], answers[1], part)
		}
	})
}

// sayer serves, and returns a function that sends bytes in parts, each time from another address:
// wrong tokens are counted by address.
func sayer(f *testing.F, c resp.Config, tokens ...service.Token) (*server, func(sends []byte, part int) *fakeConn) {
	s, clients := serve(f, service.Config{Limits: service.Limits{Wait: time.Minute}, Tokens: tokens}, c), make(pipes)
	go s.Serve(clients)
	f.Cleanup(func() { clients.Close() })
	var connections uint32
	return s, func(sends []byte, part int) *fakeConn {
		c := &fakeConn{sends: sends, part: part, closed: make(chan struct{})}
		connections++
		binary.BigEndian.PutUint32(c.from[:], connections)
		clients <- c
		<-c.closed
		return c
	}
}

// FuzzOtherProtocols sends any text before commands. If the first line with words does not begin
// with the name of a command, no id is drawn.
func FuzzOtherProtocols(f *testing.F) {
	for _, text := range []string{"POST /a b HTTP/1.1", "get / http/1.1", "Host: x", "\r\n \t\r\nEHLO x", "\x00", "PROXY TCP4 a b 1 2", "incr orders", "*1"} {
		f.Add(text, 3)
	}
	s, say := sayer(f, resp.Config{})
	f.Fuzz(func(t *testing.T, text string, part int) {
		for line := range strings.Lines(text + "\n") {
			words := strings.Fields(line)
			if len(words) == 0 && line[0] != '*' {
				continue
			}
			if line[0] == '*' || slices.Contains(strings.Fields("INCR INCRBY GET UID.RUNS AUTH CLIENT ECHO HELLO INFO PING QUIT"), strings.ToUpper(words[0])) {
				return
			}
			break
		}
		before := s.Gets.Load()
		say([]byte(text+"\r\nINCR orders\r\n"+array("INCR", "orders")), max(part, 1))
		if strings.TrimSpace(text) != "" && s.Gets.Load() > before {
			t.Fatalf("%q before commands, and ids are drawn", text)
		}
	})
}

// check reads answers.
func check(t *testing.T, text string) {
	t.Helper()
	in := bufio.NewReader(strings.NewReader(text))
	for {
		if _, err := in.Peek(1); errors.Is(err, io.EOF) {
			return
		}
		if err := readAnswer(in, 0); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	}
}

// readAnswer reads an answer as strictly as no client does.
func readAnswer(in *bufio.Reader, depth int) error {
	line, err := in.ReadString('\n')
	if err != nil || len(line) < 3 || line[len(line)-2] != '\r' || strings.Contains(line[:len(line)-2], "\r") || depth > 5 {
		return errors.New("a line that is none: " + strconv.Quote(line))
	}
	rest := line[1 : len(line)-2]
	n, bad := strconv.ParseInt(rest, 10, 64)
	switch line[0] {
	case '+', '-':
		return nil
	case ':':
		return bad
	case '$':
		if bad != nil || n < 0 {
			return errors.New("a length that is none: " + line)
		}
		text := make([]byte, n+2)
		if _, err := io.ReadFull(in, text); err != nil || string(text[n:]) != "\r\n" {
			return errors.New("a string of another length")
		}
		return nil
	case '*', '%':
		if bad != nil || n < 0 {
			return errors.New("a count that is none: " + line)
		}
		if line[0] == '%' {
			n *= 2
		}
		for range n {
			if err := readAnswer(in, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return errors.New("an unknown type: " + line)
}
