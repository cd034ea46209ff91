package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// The kinds of failure that only HTTP has.
var (
	methodNotAllowed = service.Kind{Name: "method not allowed", Status: http.StatusMethodNotAllowed}
	bodyTooLarge     = service.Kind{Name: "body too large", Status: http.StatusRequestEntityTooLarge}
	uriTooLong       = service.Kind{Name: "URI too long", Status: http.StatusRequestURITooLong}
)

// StatusText is [http.StatusText], and knows the status under which many servers count requests
// whose client has gone.
func StatusText(status int) string {
	if status == service.Cancelled.Status {
		return "Client Closed Request"
	}
	return http.StatusText(status)
}

// problem is the body of a failure, as RFC 9457 has it. Type leads to the failure's
// description in /openapi.yaml.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

// WriteProblem answers with a problem. An error that is not a [*service.Error] is not shown.
// If w is a [Observer], it learns of the failure.
func WriteProblem(w http.ResponseWriter, err error) {
	e := &service.Error{Kind: service.Exhausted, Detail: "the request failed"}
	errors.As(err, &e)
	if o, ok := w.(Observer); ok {
		o.Failed(e)
	}
	header := w.Header()
	header.Set("Content-Type", "application/problem+json")
	header.Set("X-Content-Type-Options", "nosniff") // the detail quotes the request
	if e.Retry > 0 {
		header.Set("Retry-After", seconds(e.Retry))
	}
	if e.Kind == service.Unauthorized {
		header.Add("WWW-Authenticate", `Bearer realm="uidring"`)
	}
	status := e.Kind.Status
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(problem{ // a client that is gone reads no error
		Type:   fmt.Sprintf("/openapi.yaml#/components/responses/%d", status),
		Title:  StatusText(status),
		Status: status,
		Detail: e.Detail,
	})
}

// seconds rounds up: whoever returns earlier is refused again.
func seconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }
