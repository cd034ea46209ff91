package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"strconv"

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

// answerOf reads an answer in HTTP/1.1, by its length or in chunks, and its ids by body.
func answerOf(body func([]byte) (ids int, err error)) func(*bufio.Reader) (int, error) {
	var buf []byte
	var chunks bytes.Buffer
	return func(in *bufio.Reader) (int, error) {
		status, length, chunked := "", 0, false
		for {
			line, err := in.ReadSlice('\n')
			if err != nil {
				return 0, err
			}
			line = bytes.TrimRight(line, "\r\n")
			if len(line) == 0 {
				break
			}
			if status == "" {
				status = string(line[:min(len(line), len("HTTP/1.1 200"))])
			}
			if digits, is := bytes.CutPrefix(line, []byte("Content-Length: ")); is {
				if length, err = strconv.Atoi(string(digits)); err != nil {
					return 0, err
				}
			}
			chunked = chunked || string(line) == "Transfer-Encoding: chunked"
		}
		if cap(buf) < length {
			buf = make([]byte, length)
		}
		text := buf[:length]
		if chunked {
			chunks.Reset()
			if _, err := chunks.ReadFrom(httputil.NewChunkedReader(in)); err != nil {
				return 0, err
			}
			if _, err := in.Discard(len("\r\n")); err != nil { // behind the last chunk
				return 0, err
			}
			text = chunks.Bytes()
		} else if _, err := io.ReadFull(in, text); err != nil {
			return 0, err
		}
		if status != "HTTP/1.1 200" {
			return 0, fmt.Errorf("%s: %s", status, text)
		}
		return body(text)
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
