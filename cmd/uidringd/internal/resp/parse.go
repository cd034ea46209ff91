package resp

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// protocolError describes malformed input from a client, in the words of Redis.
type protocolError string

func (e protocolError) Error() string { return "Protocol error: " + string(e) }

// mostArguments is how many arguments a command has at most, its name included.
const mostArguments = 1024

// Faults after which the rest of a connection's bytes has no meaning.
var (
	errHTTP = errors.New("an HTTP request")
	errTLS  = errors.New("the client speaks TLS, but this port does not")
)

// parse reads a command at the start of b: an array of bulk strings, or words in a line.
// It appends the command's arguments, which may lie in b, and returns its length: 0 while b
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
	end := bytes.IndexByte(b[at:], '\n')
	if end < 0 {
		return 0, 0, nil
	}
	text, ended := bytes.CutSuffix(b[at+1:at+end], []byte("\r"))
	n, err = count(text)
	if err != nil || !ended || n > most {
		return 0, 0, protocolError(fmt.Sprintf("invalid %s length: want %d at most", what, most))
	}
	return n, at + end + 1, nil
}

// parseWords reads the words of a line. A line that is not a command is an error.
func parseWords(b []byte, args [][]byte, most int) (_ [][]byte, length int, err error) {
	if b[0] == 0x16 { // the first byte of a handshake
		return args, 0, errTLS
	}
	end := bytes.IndexByte(b[:min(len(b), most)], '\n')
	if end < 0 {
		return args, 0, full(b, most)
	}
	line := bytes.TrimSpace(b[:end])
	if last := line[bytes.LastIndexAny(line, blanks)+1:]; len(last) < len(line) && bytes.EqualFold(last[:min(len(last), len(webVersion))], []byte(webVersion)) {
		return args, 0, errHTTP
	}
	args, balanced := split(line, args)
	switch {
	case !balanced:
		return args, 0, protocolError("unbalanced quotes in request")
	case len(args) > mostArguments:
		return args, 0, protocolError(fmt.Sprintf("a line has more than %d words", mostArguments))
	case len(args) == 0:
		return args, end + 1, nil
	}
	if _, err := find(args); err != nil {
		return args, 0, protocolError(err.Error())
	}
	return args, end + 1, nil
}

// webVersion begins the last word of an HTTP request's first line.
const webVersion = "HTTP/"

const blanks = " \t\r\n\v\f"

// escapes are those between double quotes, beside \xHH. A backslash before another character is
// left out.
var escapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'a': '\a'}

// split appends the words of a line, quoted as Redis reads them. It returns false if a quote has no
// end, or if anything but a blank follows the end.
func split(line []byte, args [][]byte) (_ [][]byte, balanced bool) {
	var word []byte  // nil between words
	quote := byte(0) // 0 outside quotes
	for i := 0; i < len(line); i++ {
		c, rest := line[i], line[i+1:]
		switch {
		case quote == 0 && strings.IndexByte(blanks, c) >= 0:
			if word != nil {
				args, word = append(args, word), nil
			}
			continue
		case quote == 0 && (c == '"' || c == '\''):
			quote, word = c, append([]byte{}, word...)
			continue
		case quote != 0 && c == quote:
			if len(rest) > 0 && strings.IndexByte(blanks, rest[0]) < 0 {
				return args, false
			}
			quote = 0
			continue
		case c == '\\' && len(rest) > 0 && (quote == '"' || quote == '\'' && rest[0] == '\''):
			i++
			c = rest[0]
			if quote == '"' {
				c = cmp.Or(escapes[c], c)
			}
			if len(rest) > 2 && quote == '"' && c == 'x' {
				if code, err := strconv.ParseUint(string(rest[1:3]), 16, 8); err == nil {
					c, i = byte(code), i+2
				}
			}
		}
		word = append(word, c)
	}
	if word != nil {
		args = append(args, word)
	}
	return args, quote == 0
}

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
