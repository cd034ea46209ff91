package main

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/uidring/uidring/bits"
)

// A form writes ids, one a line, with what is in them. It keeps the text of the
// last time, as many ids share one, and serves one goroutine.
type form struct {
	bits   bits.Allocator
	line   func(f *form, b []byte, id int64, p bits.Parts) []byte
	header string
	clock  string // time format
	widths [4]int // of the table's columns
	tick   int64  // whose time stamp has; -1 for none
	stamp  []byte
}

// idOnly writes nothing but the id, and does not look into it.
func idOnly(b []byte, id int64) []byte { return append(strconv.AppendInt(b, id, 10), '\n') }

// append adds the line of an id to b.
func (f *form) append(b []byte, id int64) ([]byte, error) {
	parts, err := f.bits.Parse(id)
	if err != nil {
		return b, err
	}
	if parts.Tick != f.tick {
		f.tick, f.stamp = parts.Tick, parts.Time.AppendFormat(f.stamp[:0], f.clock)
	}
	return append(f.line(f, b, id, parts), '\n'), nil
}

// jsonForm writes an object. The id is a string, since a number above 2^53 does
// not survive JavaScript.
func jsonForm(a bits.Allocator) *form {
	return &form{bits: a, tick: -1, clock: rfc3339(a.Layout()), line: func(f *form, b []byte, id int64, p bits.Parts) []byte {
		b = strconv.AppendInt(append(b, `{"id":"`...), id, 10)
		b = append(append(b, `","time":"`...), f.stamp...)
		b = strconv.AppendInt(append(b, `","worker":`...), p.Worker, 10)
		b = strconv.AppendInt(append(b, `,"sequence":`...), p.Sequence, 10)
		return append(b, '}')
	}}
}

// originalForm writes what parseUID of uid-generator returns, to the byte. The
// time is in UTC, where the original takes the zone of its JVM.
func originalForm(a bits.Allocator) *form {
	return &form{bits: a, tick: -1, clock: time.DateTime, line: func(f *form, b []byte, id int64, p bits.Parts) []byte {
		b = strconv.AppendInt(append(b, `{"UID":"`...), id, 10)
		b = append(append(b, `","timestamp":"`...), f.stamp...)
		b = strconv.AppendInt(append(b, `","workerId":"`...), p.Worker, 10)
		b = strconv.AppendInt(append(b, `","sequence":"`...), p.Sequence, 10)
		return append(b, `"}`...)
	}}
}

// tableForm writes columns. Their widths follow from the layout, so that no line
// has to wait for the others.
func tableForm(a bits.Allocator) *form {
	layout := a.Layout()
	names := [4]string{"ID", "TIME", "WORKER", "SEQUENCE"}
	greatest := int64(1)<<layout.Bits() - 1 // shifts to the sign bit and back where Bits is 63
	widths := [4]int{
		len(strconv.FormatInt(greatest, 10)),
		len(layout.End().Format(rfc3339(layout))),
		len(strconv.FormatInt(a.MaxWorker(), 10)),
	}
	for i, name := range names {
		widths[i] = max(widths[i], len(name))
	}
	return &form{
		bits:   a,
		tick:   -1,
		clock:  rfc3339(layout),
		widths: widths,
		header: fmt.Sprintf("%-*s  %-*s  %-*s  %s\n", widths[0], names[0], widths[1], names[1], widths[2], names[2], names[3]),
		line: func(f *form, b []byte, id int64, p bits.Parts) []byte {
			start := len(b)
			b = pad(strconv.AppendInt(b, id, 10), start, f.widths[0])
			start = len(b)
			b = pad(append(b, f.stamp...), start, f.widths[1])
			start = len(b)
			b = pad(strconv.AppendInt(b, p.Worker, 10), start, f.widths[2])
			return strconv.AppendInt(b, p.Sequence, 10)
		},
	}
}

// pad fills the column that began at start, and the gap to the next.
func pad(b []byte, start, width int) []byte {
	for len(b)-start < width+2 {
		b = append(b, ' ')
	}
	return b
}

// rfc3339 is the time format with as many decimals as ticks of the layout need.
func rfc3339(layout bits.Layout) string {
	fine := time.Duration(cmp.Or(layout.Epoch.Nanosecond(), int(time.Second)))
	for _, f := range []struct {
		unit   time.Duration
		format string
	}{
		{time.Second, "2006-01-02T15:04:05Z07:00"},
		{time.Millisecond, "2006-01-02T15:04:05.000Z07:00"},
		{time.Microsecond, "2006-01-02T15:04:05.000000Z07:00"},
	} {
		if layout.Unit%f.unit == 0 && fine%f.unit == 0 {
			return f.format
		}
	}
	return "2006-01-02T15:04:05.000000000Z07:00"
}
