package api

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/uid"
)

// The routes of Leaf answer as Leaf does where it succeeds. Where Leaf answers 500, or
// 200 with an errorMsg, they answer with a problem and its status.

// leaf answers with the digits of one id and no end of line, of a counter or of a generator with a
// clock. want names these.
func (a api) leaf(counter bool, want string) func(http.ResponseWriter, *http.Request, service.Caller) error {
	return func(w http.ResponseWriter, r *http.Request, caller service.Caller) error {
		name := r.PathValue("name")
		entry, err := a.Find(r.Context(), caller, name, 1)
		if err != nil {
			return err
		}
		if counter != (entry.Layout == nil) {
			return &service.Error{Kind: service.Unknown, Detail: fmt.Sprintf("generator %q is of kind %s, want %s on this route", name, entry.Kind, want)}
		}
		w.Header()["Content-Type"] = plainText
		if r.Method == http.MethodHead {
			return nil
		}
		d, err := a.Draw(r.Context(), caller, name, 1)
		if err != nil {
			return err
		}
		defer d.Done()
		asLeaf.write(w, d)
		return nil
	}
}

// leafDecode reads an id in Leaf's layout, which is Snowflake's. The time is that of
// the server's zone, as Leaf's is.
func leafDecode(w http.ResponseWriter, r *http.Request, _ service.Caller) error {
	text := r.URL.Query().Get("snowflakeId")
	id, err := uid.ParseID(text)
	if err != nil {
		return service.Invalid("snowflakeId is %q, want a whole number from 0 to 9223372036854775807", text)
	}
	allocator, err := bits.NewAllocator(bits.Snowflake())
	if err != nil {
		return err
	}
	p, err := allocator.Parse(int64(id))
	if err != nil {
		return err
	}
	return writeJSON(w, map[string]string{
		"timestamp":  fmt.Sprintf("%d(%s)", p.Time.UnixMilli(), p.Time.In(time.Local).Format("2006-01-02 15:04:05.000")),
		"workerId":   strconv.FormatInt(p.Worker, 10),
		"sequenceId": strconv.FormatInt(p.Sequence, 10),
	})
}
