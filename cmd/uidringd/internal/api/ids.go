package api

import (
	"net/http"
	"strconv"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/uid"
)

// ids answers with one id or n, as text or JSON.
func (a api) ids(w http.ResponseWriter, r *http.Request, caller service.Caller) error {
	q, err := readQuery(r)
	if err != nil {
		return err
	}
	f := asText
	if q.json {
		f = asJSON
	}
	if r.Method == http.MethodHead {
		_, err := a.Find(r.Context(), caller, r.PathValue("name"), q.n)
		w.Header()["Content-Type"] = f.contentType
		return err
	}
	d, err := a.Draw(r.Context(), caller, r.PathValue("name"), q.n)
	if err != nil {
		return err
	}
	defer d.Done()
	w.Header()["Content-Type"] = f.contentType
	f.write(w, d)
	return nil
}

// form is how ids are written: begin, the ids with between among them, and end.
type form struct {
	contentType         []string
	begin, between, end string
}

var (
	asText = form{contentType: plainText, between: "\n", end: "\n"}
	asJSON = form{contentType: jsonText, begin: `{"ids":["`, between: `","`, end: "\"]}\n"}
	asLeaf = form{contentType: plainText}
)

// flushAt is how long a text grows before it is written, so that an answer takes
// little memory while its client reads slowly.
const flushAt = 16 << 10

// write writes the ids of d. A client that is gone reads no error.
func (f form) write(w http.ResponseWriter, d *service.Drawn) {
	buf, flushed := d.Buffer[:0], false
	buf = append(buf, f.begin...)
	between := ""
	var room [20]byte
	for _, run := range d.Runs {
		digits := strconv.AppendInt(room[:0], int64(run.First), 10)
		for i := range run.N {
			if i > 0 && !increment(digits) {
				digits = strconv.AppendInt(room[:0], int64(run.First)+i, 10)
			}
			buf = append(buf, between...)
			buf = append(buf, digits...)
			between = f.between
			if len(buf) < flushAt {
				continue
			}
			if _, err := w.Write(buf); err != nil {
				return
			}
			buf, flushed = buf[:0], true
		}
	}
	buf = append(buf, f.end...)
	d.Buffer = buf
	if !flushed && len(buf) > 1<<10 { // net/http counts short texts, and would send long ones in chunks
		w.Header()["Content-Length"] = []string{strconv.Itoa(len(buf))}
	}
	_, _ = w.Write(buf)
}

// increment adds 1 to the decimal number in digits, which costs far less than AppendInt. It
// returns false if the sum has a digit more.
func increment(digits []byte) bool {
	for i := len(digits) - 1; i >= 0; i-- {
		if digits[i] < '9' {
			digits[i]++
			return true
		}
		digits[i] = '0'
	}
	return false
}

// runs answers with n ids as runs of consecutive ids.
func (a api) runs(w http.ResponseWriter, r *http.Request, caller service.Caller) error {
	q, err := readQuery(r)
	if err != nil {
		return err
	}
	d, err := a.DrawRuns(r.Context(), caller, r.PathValue("name"), q.n)
	if err != nil {
		return err
	}
	defer d.Done()
	type run struct {
		First uid.ID `json:"first"`
		Count int64  `json:"count"`
	}
	answer := struct {
		Instance string `json:"instance"`
		Kind     string `json:"kind"`
		Number   uint64 `json:"number"`
		Runs     []run  `json:"runs"`
	}{d.Entry.Instance, d.Entry.Kind, d.Entry.NextNumber(), make([]run, len(d.Runs))}
	for i, r := range d.Runs {
		answer.Runs[i] = run{r.First, r.N}
	}
	return writeJSON(w, answer)
}
