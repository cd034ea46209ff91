package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"

	"github.com/valyala/fasthttp"

	"github.com/uidring/uidring/uid"
)

// caller makes a call to a server and returns how many ids the answer had. It is for
// one goroutine.
type caller struct {
	call  func() (ids int, err error)
	close func() error
}

// wire returns a caller that sends the same bytes again and again over a connection
// of its own. What it does to an answer is what a client has to do: read its head,
// and its body by length.
func wire(address, request string, read func(*bufio.Reader) (ids int, err error)) (caller, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return caller{}, err
	}
	in := bufio.NewReaderSize(conn, 64<<10)
	return caller{close: conn.Close, call: func() (int, error) {
		if _, err := io.WriteString(conn, request); err != nil {
			return 0, err
		}
		return read(in)
	}}, nil
}

// answerOf reads an answer in HTTP/1.1, and its ids by body.
func answerOf(body func([]byte) (ids int, err error)) func(*bufio.Reader) (int, error) {
	var answer fasthttp.Response
	return func(in *bufio.Reader) (int, error) {
		if err := answer.Read(in); err != nil {
			return 0, err
		}
		if answer.StatusCode() != fasthttp.StatusOK {
			return 0, fmt.Errorf("%d: %s", answer.StatusCode(), answer.Body())
		}
		return body(answer.Body())
	}
}

func nothing([]byte) (int, error) { return 0, nil }

// lines reads an id a line.
func lines(body []byte) (ids int, err error) {
	id := uint64(0)
	for _, c := range body {
		switch {
		case c >= '0' && c <= '9':
			id = id*10 + uint64(c-'0')
		case c == '\n' && id > 0:
			ids, id = ids+1, 0
		default:
			return 0, fmt.Errorf("%q is no id", body)
		}
	}
	return ids, nil
}

// digits reads the same, of what are no ids.
func digits(body []byte) (int, error) {
	_, err := lines(body)
	return 0, err
}

// runs reads the answer of the runs route.
func runs(body []byte) (ids int, err error) {
	var answer struct {
		Runs []struct {
			First uid.ID
			Count int
		}
	}
	err = json.Unmarshal(body, &answer)
	for _, run := range answer.Runs {
		ids += run.Count
	}
	return ids, err
}

// integer reads the answer of INCRBY, which reserves so many ids.
func integer(ids int) func(*bufio.Reader) (int, error) {
	return func(in *bufio.Reader) (int, error) {
		line, err := in.ReadSlice('\n')
		if err == nil && line[0] != ':' {
			err = fmt.Errorf("redis answers %q", line)
		}
		return ids, err
	}
}
