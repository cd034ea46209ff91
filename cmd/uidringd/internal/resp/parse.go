package resp

import (
	"bytes"
	"errors"
	"fmt"
)

// protocolError says what a client sent that is no request, in the words of Redis.
type protocolError string

func (e protocolError) Error() string { return "Protocol error: " + string(e) }

// mostArguments is how many arguments a command has at most, its name included.
const mostArguments = 1024

// Faults after which the rest of a connection's bytes has no meaning.
var (
	errHTTP = errors.New("an HTTP request")
	errTLS  = errors.New("the client speaks TLS, and this port does not")
)

// parse reads a command at the start of b: an array of bulk strings, or words in a line.
// It appends the command's arguments, which lie in b, and returns its length: 0 while b
// has only a part of it. A command without arguments means nothing. parse refuses a command of
// more than most bytes as soon as a header announces that.
func parse(b []byte, args [][]byte, most int) (_ [][]byte, length int, err error) {
	if len(b) == 0 {
		return args, 0, nil
	}
	if b[0] != '*' {
		return parseWords(b, args, most)
	}
	count, at, err := header(b, 0, mostArguments, "multibulk")
	for ; count > 0 && at > 0 && err == nil; count-- {
		if at == len(b) {
			return args, 0, full(b, most)
		}
		if b[at] != '$' {
			return args, 0, protocolError(fmt.Sprintf("expected '$', got %q", b[at]))
		}
		var n int
		n, at, err = header(b, at, most, "bulk")
		switch end := at + n; {
		case err != nil, at == 0:
		case n < 0:
			err = protocolError("invalid bulk length")
		case end+2 > most:
			err = tooLong(most)
		case end+2 > len(b):
			return args, 0, nil
		case b[end] != '\r' || b[end+1] != '\n':
			err = protocolError("a bulk string is longer than its length")
		default:
			args = append(args, b[at:end])
			at = end + 2
		}
	}
	switch {
	case err != nil:
		return args, 0, err
	case at == 0:
		return args, 0, full(b, most)
	}
	return args, at, nil
}

// header reads the number between a type byte at b[at] and the end of its line. It returns
// where the next line starts; 0 while the line is incomplete. A number is most at most.
func header(b []byte, at, most int, what string) (n, next int, err error) {
	sign := 1
	for i := at + 1; i < len(b); i++ {
		switch c := b[i]; {
		case c >= '0' && c <= '9':
			if n = 10*n + int(c-'0'); n > most {
				return 0, 0, protocolError(fmt.Sprintf("invalid %s length: want %d at most", what, most))
			}
		case c == '-' && i == at+1:
			sign = -1
		case c == '\r' && i > at+1 && i+1 == len(b):
			return 0, 0, nil
		case c == '\r' && i > at+1 && b[i+1] == '\n':
			return sign * n, i + 2, nil
		default:
			return 0, 0, protocolError(fmt.Sprintf("invalid %s length", what))
		}
	}
	return 0, 0, nil
}

// parseWords reads words in a line. A line that is no command is an error.
func parseWords(b []byte, args [][]byte, most int) (_ [][]byte, length int, err error) {
	if b[0] == 0x16 { // the first byte of a handshake
		return args, 0, errTLS
	}
	end := bytes.IndexByte(b[:min(len(b), most)], '\n')
	if end < 0 {
		return args, 0, full(b, most)
	}
	for word := range bytes.FieldsSeq(b[:end]) {
		if len(args) == mostArguments {
			return args, 0, protocolError(fmt.Sprintf("a line has more than %d words", mostArguments))
		}
		args = append(args, word)
	}
	if len(args) == 0 {
		return args, end + 1, nil
	}
	if last := args[len(args)-1]; len(args) > 1 && bytes.EqualFold(last[:min(len(last), len(webVersion))], []byte(webVersion)) {
		return args, 0, errHTTP
	}
	if _, err := find(args); err != nil {
		return args, 0, protocolError(err.Error())
	}
	return args, end + 1, nil
}

// webVersion begins the last word of an HTTP request's first line.
const webVersion = "HTTP/"

// repeats returns how often the first command of b, which has length bytes, stands there in a row.
func repeats(b []byte, length int) int {
	n := 1
	for bytes.HasPrefix(b[n*length:], b[:length]) {
		n++
	}
	return n
}

// full returns an error if b has most bytes, and no command.
func full(b []byte, most int) error {
	if len(b) < most {
		return nil
	}
	return tooLong(most)
}

func tooLong(most int) error {
	return protocolError(fmt.Sprintf("the command has more than %d bytes, the server's limits.header_bytes", most))
}
