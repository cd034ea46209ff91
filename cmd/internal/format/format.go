// Package format writes ids as lines: alone, as JSON, or with what is in them.
package format

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/uidring/uidring/bits"
)

// Form writes ids, one a line, with what is in them. It serves one goroutine.
type Form struct {
	Header string // to be written before the first line, if not empty

	// Append adds the line of an id to b. JSON and Table mark an id that is doubtful.
	Append func(b []byte, id int64, doubt string) ([]byte, error)
}

// of returns the form of a layout's ids whose lines are written by line. when is the time of
// the tick, in the format clock.
func of(a *bits.Allocator, clock string, line func(b []byte, id int64, when string, p bits.Parts, doubt string) []byte) *Form {
	tick, when := int64(-1), "" // many ids share one
	return &Form{Append: func(b []byte, id int64, doubt string) ([]byte, error) {
		p, err := a.Parse(id)
		if err != nil {
			return b, err
		}
		if p.Tick != tick {
			tick, when = p.Tick, p.Time.Format(clock)
		}
		return append(line(b, id, when, p, doubt), '\n'), nil
	}}
}

// JSON writes an object. The id is a string, since JavaScript rounds numbers above
// 2^53. The parts of the worker number follow it where the layout names them. The layout lets
// parse read the id without being told.
func JSON(a *bits.Allocator) *Form {
	layout := a.Layout().String()
	return of(a, rfc3339(a.Layout()), func(b []byte, id int64, when string, p bits.Parts, doubt string) []byte {
		b = fmt.Appendf(b, `{"id":"%d","time":"%s","worker":%d`, id, when, p.Worker)
		start := `,"worker_parts":{`
		for _, part := range PartsOf(a, p.Worker) {
			b = fmt.Appendf(b, `%s"%s":%d`, start, part.Name, part.Value)
			start = `,`
		}
		if start == `,` {
			b = append(b, '}')
		}
		b = fmt.Appendf(b, `,"sequence":%d,"layout":"%s"`, p.Sequence, layout)
		if doubt != "" {
			b = fmt.Appendf(b, `,"doubt":%q`, doubt)
		}
		return append(b, '}')
	})
}

// Vesta writes an object with what is in an id of Vesta. Type is 0 for seconds and 1
// for milliseconds; method is 0 for embedded, 1 for a server and 2 for REST.
func Vesta() *Form {
	return &Form{Append: func(b []byte, id int64, _ string) ([]byte, error) {
		p, err := bits.ParseVesta(id)
		if err != nil {
			return b, err
		}
		return fmt.Appendf(b, `{"id":"%d","time":"%s","machine":%d,"sequence":%d,"type":%d,"method":%d}`+"\n",
			id, p.Time.Format("2006-01-02T15:04:05.000Z07:00"), p.Worker, p.Sequence, p.Type, p.Method), nil
	}}
}

// PartsOf returns the parts of a worker number: none where the layout names no parts.
func PartsOf(a *bits.Allocator, worker int64) []bits.WorkerPart {
	if a.Layout().WorkerParts == "" {
		return nil
	}
	parts, _ := a.SplitWorker(worker) // of an id, so in range
	return parts
}

// Original writes what parseUID of uid-generator returns, to the byte. The
// time is in UTC, where the original takes the zone of its JVM.
func Original(a *bits.Allocator) *Form {
	return of(a, time.DateTime, func(b []byte, id int64, when string, p bits.Parts, _ string) []byte {
		return fmt.Appendf(b, `{"UID":"%d","timestamp":"%s","workerId":"%d","sequence":"%d"}`, id, when, p.Worker, p.Sequence)
	})
}

// Table writes columns, one for each part of the worker number that the layout names.
// Their widths follow from the layout, so that no line has to wait for the others.
func Table(a *bits.Allocator) *Form {
	layout := a.Layout()
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
	for _, part := range PartsOf(a, a.MaxWorker()) {
		column(strings.ToUpper(part.Name), digits(part.Value))
	}
	form := of(a, rfc3339(layout), func(b []byte, id int64, when string, p bits.Parts, doubt string) []byte {
		b = fmt.Appendf(b, "%-*d%-*s%-*d", widths[0], id, widths[1], when, widths[2], p.Worker)
		for i, part := range PartsOf(a, p.Worker) {
			b = fmt.Appendf(b, "%-*d", widths[3+i], part.Value)
		}
		b = strconv.AppendInt(b, p.Sequence, 10)
		if doubt != "" {
			b = append(b, "  doubtful"...)
		}
		return b
	})
	form.Header = header + "SEQUENCE\n"
	return form
}

func digits(n int64) int { return len(strconv.FormatInt(n, 10)) }

// rfc3339 is the time format with as many decimals as ticks of the layout need.
func rfc3339(layout bits.Layout) string {
	decimals := 0
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if layout.Unit%unit == 0 && layout.Epoch.Nanosecond()%int(unit) == 0 {
			break
		}
		decimals += 3
	}
	return "2006-01-02T15:04:05" + strings.TrimSuffix("."+strings.Repeat("0", decimals), ".") + "Z07:00"
}
