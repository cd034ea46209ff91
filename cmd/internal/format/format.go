// Package format writes ids as lines: alone, as JSON, or with what is in them.
package format

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/uidring/uidring/bits"
)

// A Form writes ids, one a line, with what is in them.
type Form struct {
	Header string                                   // to be written before the first line, if not empty
	Append func(b []byte, id int64) ([]byte, error) // adds the line of an id to b
}

// object writes what of returns as an object.
func object[T any](of func(id int64) (T, error)) Form {
	return Form{Append: func(b []byte, id int64) ([]byte, error) {
		parts, err := of(id)
		if err != nil {
			return b, err
		}
		text, err := json.Marshal(parts)
		return append(append(b, text...), '\n'), err
	}}
}

// JSON writes an object. The id is a string, since JavaScript rounds numbers above
// 2^53. The parts of the worker number follow it where the layout names them.
func JSON(a *bits.Allocator) Form {
	type fields struct {
		ID       int64            `json:"id,string"`
		Time     string           `json:"time"`
		Worker   int64            `json:"worker"`
		Parts    map[string]int64 `json:"worker_parts,omitempty"`
		Sequence int64            `json:"sequence"`
	}
	clock, parts := rfc3339(a.Layout()), partsOf(a)
	return object(func(id int64) (fields, error) {
		p, err := a.Parse(id)
		named := make(map[string]int64)
		for _, part := range parts(p.Worker) {
			named[part.Name] = part.Value
		}
		return fields{id, p.Time.Format(clock), p.Worker, named, p.Sequence}, err
	})
}

// Vesta writes an object with what is in an id of Vesta. Type is 0 for seconds and 1
// for milliseconds; method is 0 for embedded, 1 for a server and 2 for REST.
func Vesta() Form {
	type fields struct {
		ID       int64  `json:"id,string"`
		Time     string `json:"time"`
		Machine  int64  `json:"machine"`
		Sequence int64  `json:"sequence"`
		Type     int64  `json:"type"`
		Method   int64  `json:"method"`
	}
	return object(func(id int64) (fields, error) {
		p, err := bits.ParseVesta(id)
		return fields{id, p.Time.Format(milliseconds), p.Worker, p.Sequence, p.Type, p.Method}, err
	})
}

// Original writes what parseUID of uid-generator returns, to the byte. The
// time is in UTC, where the original takes the zone of its JVM.
func Original(a *bits.Allocator) Form {
	type fields struct {
		ID       int64  `json:"UID,string"`
		Time     string `json:"timestamp"`
		Worker   int64  `json:"workerId,string"`
		Sequence int64  `json:"sequence,string"`
	}
	return object(func(id int64) (fields, error) {
		p, err := a.Parse(id)
		return fields{id, p.Time.Format(time.DateTime), p.Worker, p.Sequence}, err
	})
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

// Table writes columns, one for each part of the worker number that the layout names.
// Their widths follow from the layout, so that no line has to wait for the others.
func Table(a *bits.Allocator) Form {
	layout, parts := a.Layout(), partsOf(a)
	clock, greatest := rfc3339(layout), int64(1)<<layout.Bits()-1 // shifts to the sign bit and back where Bits is 63
	var widths []int
	columns := func(b []byte, cells ...any) []byte {
		for i, cell := range cells {
			b = fmt.Appendf(b, "%-*v  ", widths[i], cell)
		}
		return b
	}
	names, widest := []any{"ID", "TIME", "WORKER"}, []any{greatest, layout.End().Format(clock), a.MaxWorker()}
	for _, part := range parts(a.MaxWorker()) {
		names, widest = append(names, strings.ToUpper(part.Name)), append(widest, part.Value)
	}
	for i := range names {
		widths = append(widths, max(len(fmt.Sprint(names[i])), len(fmt.Sprint(widest[i]))))
	}
	return Form{
		Header: string(columns(nil, names...)) + "SEQUENCE\n",
		Append: func(b []byte, id int64) ([]byte, error) {
			p, err := a.Parse(id)
			if err != nil {
				return b, err
			}
			cells := []any{id, p.Time.Format(clock), p.Worker}
			for _, part := range parts(p.Worker) {
				cells = append(cells, part.Value)
			}
			return append(strconv.AppendInt(columns(b, cells...), p.Sequence, 10), '\n'), nil
		},
	}
}

const milliseconds = "2006-01-02T15:04:05.000Z07:00"

// rfc3339 is the time format with as many decimals as ticks of the layout need.
func rfc3339(layout bits.Layout) string {
	fine := time.Duration(cmp.Or(layout.Epoch.Nanosecond(), int(time.Second)))
	for _, f := range []struct {
		unit   time.Duration
		format string
	}{
		{time.Second, "2006-01-02T15:04:05Z07:00"},
		{time.Millisecond, milliseconds},
		{time.Microsecond, "2006-01-02T15:04:05.000000Z07:00"},
	} {
		if layout.Unit%f.unit == 0 && fine%f.unit == 0 {
			return f.format
		}
	}
	return "2006-01-02T15:04:05.000000000Z07:00"
}
