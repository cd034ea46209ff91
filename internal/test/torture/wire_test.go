//go:build linux

package torture

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// A record is a message of a child. On the wire it is a byte for the kind, the kind's
// numbers as varints, and, if the kind has a text, its length and the text.
type record struct {
	kind    recordKind
	numbers [4]int64
	text    string
}

type recordKind byte

const (
	recordIDs      recordKind = 'i' // goroutine, first id, how many: consecutive ids
	recordGrant    recordKind = 'g' // attempt, number (-1 is none), from and until in milliseconds
	recordOpen     recordKind = 'o' // attempt: its generator is open
	recordNone     recordKind = 'n' // reason, milliseconds that the clock lacks: no id for now
	recordRefused  recordKind = 'r' // 1 for want of reserved time; text: a generator could not be opened
	recordClosed   recordKind = 'c' // text: what Close said, empty for nothing
	recordFatal    recordKind = 'f' // text: what must not happen
	recordWrite    recordKind = 'w' // attempt, number, until, change; text: token, blank, the token to replace: a write begins
	recordDone     recordKind = 'd' // text: token of a write that the store has reported done
	recordRange    recordKind = 's' // first id, how many: a range was reserved
	recordReturn   recordKind = 'b' // first id, end: ids are to be given back
	recordWarned   recordKind = 'u' // the store does not flush what it confirms
	recordReturned recordKind = 'k' // how many: the store has taken them
)

// shapes has the count of a kind's numbers, and whether the kind has a text.
var shapes = map[recordKind]struct {
	numbers int
	text    bool
}{
	recordIDs:      {3, false},
	recordGrant:    {4, false},
	recordOpen:     {1, false},
	recordNone:     {2, false},
	recordRefused:  {1, true},
	recordClosed:   {0, true},
	recordFatal:    {0, true},
	recordWrite:    {4, true},
	recordDone:     {0, true},
	recordRange:    {2, false},
	recordReturn:   {2, false},
	recordReturned: {1, false},
	recordWarned:   {0, false},
}

// maxText bounds a text on the wire.
const maxText = 4096

// recorder writes records. It is safe for concurrent use. write returns after its records
// are written, so that a kill loses little.
type recorder struct {
	mu  sync.Mutex
	out *bufio.Writer
}

func newRecorder(out io.Writer) *recorder { return &recorder{out: bufio.NewWriterSize(out, 1<<16)} }

func (r *recorder) write(records ...record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var buffer [binary.MaxVarintLen64]byte
	for _, rec := range records {
		shape := shapes[rec.kind]
		r.out.WriteByte(byte(rec.kind))
		for _, n := range rec.numbers[:shape.numbers] {
			r.out.Write(buffer[:binary.PutVarint(buffer[:], n)])
		}
		if shape.text {
			text := rec.text[:min(len(rec.text), maxText)]
			r.out.Write(buffer[:binary.PutVarint(buffer[:], int64(len(text)))])
			r.out.WriteString(text)
		}
	}
	r.out.Flush() // an error means that the parent has died, and then standard input ends
}

func (r *recorder) say(kind recordKind, text string, numbers ...int64) {
	rec := record{kind: kind, text: text}
	copy(rec.numbers[:], numbers)
	r.write(rec)
}

// errText is an error's text, empty for nil.
func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// readRecord reads one record. The error is io.EOF at the end, and
// io.ErrUnexpectedEOF where a killed child was in the middle of one.
func readRecord(in *bufio.Reader) (rec record, err error) {
	kind, err := in.ReadByte()
	if err != nil {
		return rec, err
	}
	rec.kind = recordKind(kind)
	shape, ok := shapes[rec.kind]
	if !ok {
		return rec, fmt.Errorf("no record begins with %q", kind)
	}
	for i := range shape.numbers {
		if rec.numbers[i], err = binary.ReadVarint(in); err != nil {
			return rec, within(err)
		}
	}
	if shape.text {
		length, err := binary.ReadVarint(in)
		if err != nil {
			return rec, within(err)
		}
		if length < 0 || length > maxText {
			return rec, fmt.Errorf("a text of %d bytes", length)
		}
		text := make([]byte, length)
		if _, err := io.ReadFull(in, text); err != nil {
			return rec, within(err)
		}
		rec.text = string(text)
	}
	return rec, nil
}

// within is the error for an end in the middle of a record.
func within(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Why there is no id for now.
const (
	noneReserved    = iota // no time is reserved where the next id would be stamped
	noneLost               // the number is lost, and no other is held
	noneBorrow             // the limit of borrowed time
	noneBackward           // the clock has stepped back
	noneFull               // all slots are full
	noneUnavailable        // the counter's store is unavailable
	noneRewound            // the counter's store has gone back
	noneNarrow             // the counter's column holds no more
	noneKinds
)

var noneNames = [noneKinds]string{"time not reserved", "number lost", "borrow limit", "clock back", "slots full", "store unavailable", "store rewound", "column full"}

// millis returns t in milliseconds since 1970, and 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
