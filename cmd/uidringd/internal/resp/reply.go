package resp

import (
	"strconv"
	"strings"
)

// reply is text for a client. Maps differ between versions 2 and 3 of the protocol.
type reply struct {
	text    []byte
	version int // 2 or 3
}

func (r *reply) line(kind byte, text string) {
	r.text = append(append(append(r.text, kind), text...), "\r\n"...)
}

func (r *reply) number(kind byte, n int64) {
	r.text = append(strconv.AppendInt(append(r.text, kind), n, 10), "\r\n"...)
}

func (r *reply) ok()         { r.line('+', "OK") }
func (r *reply) int(n int64) { r.number(':', n) }

// bulk writes a string of any bytes.
func (r *reply) bulk(s string) {
	r.number('$', int64(len(s)))
	r.text = append(append(r.text, s...), "\r\n"...)
}

// array writes the head of an array. Its n elements follow.
func (r *reply) array(n int) { r.number('*', int64(n)) }

// dict writes the head of a map. Its n pairs of a key and a value follow.
func (r *reply) dict(n int) {
	if r.version == 3 {
		r.number('%', int64(n))
	} else {
		r.array(2 * n)
	}
}

func (r *reply) pair(key, value string) {
	r.bulk(key)
	r.bulk(value)
}

// longestError bounds an error, which can quote the request.
const longestError = 512

// fail writes an error, as one line.
func (r *reply) fail(text string) {
	if len(text) > longestError {
		text = text[:longestError]
	}
	r.line('-', lineBreaks.Replace(text))
}

var lineBreaks = strings.NewReplacer("\r", " ", "\n", " ")
