package resp

import "io"

// mostRefused is how many commands a client sends before it gives up, with some to spare.
const mostRefused = 16

// Refuse answers each command of a client that came to the wrong port with an error. sent are
// the bytes that were read already. It returns when the connection should end.
func Refuse(conn io.ReadWriter, sent []byte, text string) {
	var (
		in   = append(make([]byte, 0, readBytes), sent[:min(len(sent), readBytes)]...)
		none reply
	)
	none.fail(text)
	for range mostRefused {
		_, length, err := parse(in, nil, readBytes)
		for ; length == 0 && err == nil; _, length, err = parse(in, nil, readBytes) {
			n, end := conn.Read(in[len(in):cap(in)])
			if in = in[:len(in)+n]; end != nil {
				return
			}
		}
		if _, broken := conn.Write(none.text); err != nil || broken != nil {
			return
		}
		in = in[:copy(in[:cap(in)], in[length:])]
	}
}
