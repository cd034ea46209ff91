// Package format writes ids as lines: alone, as JSON, or with what is in them.
package format

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/uidring/uidring/bits"
)

// A Form writes ids, one a line, with what is in them. It keeps the text of the
// last time, as many ids share one, and serves one goroutine.
type Form struct {
	parse  func(id int64) (bits.Parts, error)
	line   func(f *Form, b []byte, id int64, p bits.Parts) []byte
	Header string // to be written before the first line, if not empty
	clock  string // time format
	tick   int64  // whose time stamp has; -1 for none
	stamp  []byte
}

// Append adds the line of an id to b.
func (f *Form) Append(b []byte, id int64) ([]byte, error) {
	parts, err := f.parse(id)
	if err != nil {
		return b, err
	}
	if parts.Tick != f.tick {
		f.tick, f.stamp = parts.Tick, parts.Time.AppendFormat(f.stamp[:0], f.clock)
	}
	return append(f.line(f, b, id, parts), '\n'), nil
}

// JSON writes an object. The id is a string, since JavaScript rounds numbers above
// 2^53. The parts of the worker number follow it where the layout names them.
func JSON(a *bits.Allocator) *Form {
	parts := partsOf(a)
	return &Form{parse: a.Parse, tick: -1, clock: rfc3339(a.Layout()), line: func(f *Form, b []byte, id int64, p bits.Parts) []byte {
		b = fmt.Appendf(b, `{"id":"%d","time":"%s","worker":%d`, id, f.stamp, p.Worker)
		for i, part := range parts(p.Worker) {
			start := `,`
			if i == 0 {
				start = `,"worker_parts":{`
			}
			b = fmt.Appendf(b, `%s"%s":%d`, start, part.Name, part.Value)
		}
		if a.Layout().WorkerParts != "" {
			b = append(b, '}')
		}
		return fmt.Appendf(b, `,"sequence":%d}`, p.Sequence)
	}}
}

// Vesta writes an object with what is in an id of Vesta. Type is 0 for seconds and 1
// for milliseconds; method is 0 for embedded, 1 for a server and 2 for REST.
func Vesta() *Form {
	var last bits.VestaParts
	parse := func(id int64) (_ bits.Parts, err error) {
		last, err = bits.ParseVesta(id)
		if last.Type == 0 {
			last.Tick *= 1000 // so that equal ticks are equal times
		}
		return last.Parts, err
	}
	return &Form{parse: parse, tick: -1, clock: "2006-01-02T15:04:05.000Z07:00", line: func(f *Form, b []byte, id int64, p bits.Parts) []byte {
		return fmt.Appendf(b, `{"id":"%d","time":"%s","machine":%d,"sequence":%d,"type":%d,"method":%d}`,
			id, f.stamp, p.Worker, p.Sequence, last.Type, last.Method)
	}}
}

// partsOf returns a function that splits worker numbers of the layout: into nothing
// where it names no parts.
func partsOf(a *bits.Allocator) func(worker int64) []bits.WorkerPart {
	return func(worker int64) []bits.WorkerPart {
		if a.Layout().WorkerParts == "" {
			return nil
		}
		parts, _ := a.SplitWorker(worker) // of an id, so in range
		return parts
	}
}

// Original writes what parseUID of uid-generator returns, to the byte. The
// time is in UTC, where the original takes the zone of its JVM.
func Original(a *bits.Allocator) *Form {
	return &Form{parse: a.Parse, tick: -1, clock: time.DateTime, line: func(f *Form, b []byte, id int64, p bits.Parts) []byte {
		return fmt.Appendf(b, `{"UID":"%d","timestamp":"%s","workerId":"%d","sequence":"%d"}`, id, f.stamp, p.Worker, p.Sequence)
	}}
}

// Table writes columns, one for each part of the worker number that the layout names.
// Their widths follow from the layout, so that no line has to wait for the others.
func Table(a *bits.Allocator) *Form {
	layout, parts := a.Layout(), partsOf(a)
	greatest := int64(1)<<layout.Bits() - 1 // shifts to the sign bit and back where Bits is 63
	header := ""
	var widths []int // with the gap to the next column
	column := func(name string, width int) {
		widths = append(widths, max(width, len(name))+2)
		header += fmt.Sprintf("%-*s", widths[len(widths)-1], name)
	}
	column("ID", digits(greatest))
	column("TIME", len(layout.End().Format(rfc3339(layout))))
	column("WORKER", digits(a.MaxWorker()))
	for _, part := range parts(a.MaxWorker()) {
		column(strings.ToUpper(part.Name), digits(part.Value))
	}
	return &Form{
		parse:  a.Parse,
		tick:   -1,
		clock:  rfc3339(layout),
		Header: header + "SEQUENCE\n",
		line: func(f *Form, b []byte, id int64, p bits.Parts) []byte {
			b = fmt.Appendf(b, "%-*d%-*s%-*d", widths[0], id, widths[1], f.stamp, widths[2], p.Worker)
			for i, part := range parts(p.Worker) {
				b = fmt.Appendf(b, "%-*d", widths[3+i], part.Value)
			}
			return strconv.AppendInt(b, p.Sequence, 10)
		},
	}
}

func digits(n int64) int { return len(strconv.FormatInt(n, 10)) }

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
