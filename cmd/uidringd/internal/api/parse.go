package api

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/uid"
)

// parts is what an id carries. Note says that the id is doubtful, or that the ids of a counter carry nothing.
type parts struct {
	ID       uid.ID      `json:"id"`
	Layout   string      `json:"layout,omitempty"`
	Time     *time.Time  `json:"time,omitempty"`
	Worker   *int64      `json:"worker,omitempty"`
	Sequence *int64      `json:"sequence,omitempty"`
	Note     string      `json:"note,omitempty"`
	Parts    []namedPart `json:"workerParts,omitempty"`
}

type namedPart struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
}

// parse answers with the time, worker and sequence that an id carries.
func (a api) parse(w http.ResponseWriter, r *http.Request, caller service.Caller) error {
	id, err := uid.ParseID(r.PathValue("id"))
	if err != nil {
		return service.Invalid("the id is %q, want a whole number from 1 to 9223372036854775807", r.PathValue("id"))
	}
	p, err := a.Parse(r.Context(), caller, r.PathValue("name"), id)
	if err != nil {
		return err
	}
	if p == nil {
		return writeJSON(w, parts{ID: id, Note: "the ids of a counter carry no time"})
	}
	answer := parts{ID: id, Layout: p.Layout.String(), Time: &p.Time, Worker: &p.Worker, Sequence: &p.Sequence}
	if p.Doubt != "" {
		answer.Note = "doubtful: " + p.Doubt
	}
	for _, part := range p.Named {
		answer.Parts = append(answer.Parts, namedPart{part.Name, part.Value})
	}
	return writeJSON(w, answer)
}

func writeJSON(w http.ResponseWriter, value any) error {
	w.Header()["Content-Type"] = jsonText
	_ = json.NewEncoder(w).Encode(value) // a client that is gone reads no error
	return nil
}
