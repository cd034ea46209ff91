package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/uidringd/internal/api"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/cmd/uidringd/internal/service/servicetest"
	"github.com/uidring/uidring/uid"
)

// TestForms draws from a counter, whose ids are known.
func TestForms(t *testing.T) {
	h := newHandler(t, newCatalog(t), service.Config{})
	for _, test := range []struct{ method, target, accept, contentType, body string }{
		{"GET", "/v1/orders", "", "text/plain; charset=utf-8", "1\n"},
		{"HEAD", "/v1/orders", "", "text/plain; charset=utf-8", ""},
		{"HEAD", "/v1/orders?n=5&format=json", "", "application/json", ""},
		{"HEAD", "/api/segment/get/orders", "", "text/plain; charset=utf-8", ""},
		{"GET", "/v1/orders?n=3", "text/html, */*", "text/plain; charset=utf-8", "2\n3\n4\n"},
		{"GET", "/v1/orders", "application/json", "application/json", `{"ids":["5"]}` + "\n"},
		{"GET", "/v1/orders?format=json&n=2", "", "application/json", `{"ids":["6","7"]}` + "\n"},
		{"GET", "/v1/orders?format=text", "application/json", "text/plain; charset=utf-8", "8\n"},
		{"HEAD", "/v1/orders", "application/json;q=0", "text/plain; charset=utf-8", ""},
		{"HEAD", "/v1/orders", "application/json;q=0, */*", "text/plain; charset=utf-8", ""},
		{"HEAD", "/v1/orders", "application/json; q=0.5, text/plain", "text/plain; charset=utf-8", ""},
		{"HEAD", "/v1/orders", "text/*;q=0.5, application/json;q=0.9;v=1", "application/json", ""},
		{"HEAD", "/v1/orders", "application/*", "application/json", ""},
		{"HEAD", "/v1/orders", "application/xml, */*;q=0.1", "text/plain; charset=utf-8", ""},
		{"HEAD", "/v1/orders", "application/json, text/plain, */*", "application/json", ""},
		{"POST", "/v1/orders/runs?n=50000", "", "application/json", `{"instance":"orders-1","kind":"segment","number":1,"runs":[{"first":"9","count":50000}]}` + "\n"},
		{"POST", "/v1/orders/runs", "", "application/json", `{"instance":"orders-1","kind":"segment","number":2,"runs":[{"first":"50009","count":1}]}` + "\n"},
		{"GET", "/api/segment/get/orders", "", "text/plain; charset=utf-8", "50010"},
		{"GET", "/v1/orders/parse/7", "", "application/json", `{"id":"7","note":"the ids of a counter carry no time"}` + "\n"},
	} {
		w := ask(h, test.method, test.target, "Accept: "+test.accept)
		if w.Body.String() != test.body && test.method != "HEAD" || w.Code != 200 || w.Header().Get("Content-Type") != test.contentType {
			t.Errorf("%s %s answers %d %q %q, want %q %q", test.method, test.target, w.Code, w.Header().Get("Content-Type"), w.Body, test.contentType, test.body)
		}
	}
}

// TestMany draws answers that are written in several parts, across numbers that end in nines.
func TestMany(t *testing.T) {
	h := newHandler(t, newCatalog(t), service.Config{})
	const n = 10_000
	ids := func(first int) []string {
		var texts []string
		for id := range n {
			texts = append(texts, strconv.Itoa(first+id))
		}
		return texts
	}
	if got, want := ask(h, "GET", "/v1/orders?n=10000").Body.String(), strings.Join(ids(1), "\n")+"\n"; got != want {
		t.Errorf("ids are %q", got)
	}
	if got := clitest.Decode[struct{ IDs []string }](t, ask(h, "GET", "/v1/orders?n=10000&format=json").Body.String()).IDs; !slices.Equal(got, ids(1+n)) {
		t.Errorf("ids are %q", got)
	}
}

func TestParse(t *testing.T) {
	h := newHandler(t, newCatalog(t), service.Config{})
	began := time.Now()
	id := ask(h, "GET", "/api/snowflake/get/default").Body.String()
	parsed := clitest.Decode[struct {
		ID, Layout       string
		Time             time.Time
		Worker, Sequence int64
		WorkerParts      []struct {
			Name  string
			Value int64
		}
	}](t, ask(h, "GET", "/v1/default/parse/"+id).Body.String())
	n, _ := strconv.ParseInt(id, 10, 64)
	if parsed.ID != id || parsed.Worker != 38 || fmt.Sprint(parsed.WorkerParts) != "[{datacenter 1} {machine 6}]" || parsed.Sequence != n&4095 ||
		parsed.Layout != "41/datacenter:5+machine:5/12,epoch=2026-01-01,unit=1ms" {
		t.Errorf("%s: %+v", id, parsed)
	}
	if parsed.Time.Before(began.Truncate(time.Millisecond)) || parsed.Time.After(time.Now()) {
		t.Errorf("%s carries %v, want a time after %v", id, parsed.Time, began)
	}
	clitest.Wants(t, ask(h, "GET", "/v1/default/parse/9223372036854775807").Body.String(), `"note":"doubtful: its time is more than 24 hours in the future"`)
}

// TestLeafDecode has the example of Leaf's own documentation: its source shows
// 1567733700834 with sequence 3448 and worker 39.
func TestLeafDecode(t *testing.T) {
	local := time.Local
	defer func() { time.Local = local }()
	time.Local = time.FixedZone("CST", 8*60*60)
	h := newHandler(t, servicetest.New(), service.Config{})
	id := uid.ID((1567733700834-1288834974657)<<22 | 39<<12 | 3448)
	w := ask(h, "GET", "/decodeSnowflakeId?snowflakeId="+id.String())
	want := map[string]string{"timestamp": "1567733700834(2019-09-06 09:35:00.834)", "sequenceId": "3448", "workerId": "39"}
	if got := clitest.Decode[map[string]string](t, w.Body.String()); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%d is decoded as %v, want %v", id, got, want)
	}
}

// TestDetails shows what a caller reads who has made a mistake.
func TestDetails(t *testing.T) {
	h := newHandler(t, newCatalog(t), service.Config{})
	for target, want := range map[string]string{
		"/v1/cached?n=many":                      `n is "many", want a whole number from 1 to the generator's limit`,
		"/v1/cached?n=1&n=2":                     `parameter n is given 2 times, want it once`,
		"/v1/cached?token=" + servicetest.Secret: `there is no parameter "token", want n or format`,
		"/v1/cached?format=xml":                  `format is "xml", want text or json`,
		"/v1/a%22%0Ab":                           `there is no generator "a\"\nb"`,
		"/v1/cached/parse/12x":                   `the id is "12x", want a whole number from 1 to 9223372036854775807`,
		"/api/segment/get/cached":                `generator "cached" is of kind cached, want a counter on this route`,
		"/api/snowflake/get/orders":              `generator "orders" is of kind segment, want a generator whose ids carry a time on this route`,
		"/nowhere":                               `there is no route "/nowhere"`,
		"/v1/":                                   `there is no route "/v1/"`,
		"//v1/cached":                            `there is no route "//v1/cached"`,
		"/v1/x/../cached":                        `there is no route "/v1/x/../cached"`,
		"/v1/a%2Fb":                              `there is no generator "a/b"`,
		"/v1/a%2F%2Fb":                           `there is no generator "a//b"`,
	} {
		if got := clitest.Decode[problem](t, ask(h, "GET", target).Body.String()).Detail; got != want {
			t.Errorf("GET %s: %s, want %s", target, got, want)
		}
	}
}

// A call whose client has gone ends at once: it does not wait for ids.
func TestClientHasGone(t *testing.T) {
	h := newHandler(t, newCatalog(t), service.Config{Limits: service.Limits{Wait: time.Millisecond}})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for target, method := range map[string]string{"/v1/hangs": "GET", "/v1/hangs/runs": "POST", "/api/snowflake/get/hangs": "GET"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(gone, method, target, nil))
		clitest.Wants(t, w.Body.String(), "the request was cancelled")
	}
}

// A client is told to come back after a second at least, and never without a reason.
func TestRetryAfter(t *testing.T) {
	for retry, want := range map[time.Duration]string{0: "", 1: "1", time.Millisecond: "1", time.Second: "1", time.Second + 1: "2", time.Minute: "60"} {
		w := httptest.NewRecorder()
		api.WriteProblem(w, &service.Error{Kind: service.TooManyRequests, Retry: retry})
		if got := w.Header()["Retry-After"]; strings.Join(got, ",") != want || (retry == 0) != (got == nil) {
			t.Errorf("Retry-After is %q for %v, want %q", got, retry, want)
		}
	}
}

// A body is refused, also one whose length is not known.
func TestBody(t *testing.T) {
	h := newHandler(t, newCatalog(t), service.Config{})
	for length, want := range map[int64]int{0: http.StatusOK, 1: http.StatusRequestEntityTooLarge, -1: http.StatusRequestEntityTooLarge} {
		for _, path := range []string{"/v1/orders", "/openapi.yaml", "/probe"} {
			r := httptest.NewRequest(http.MethodGet, path, strings.NewReader("x"))
			r.ContentLength = length
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Code != want || (want != http.StatusOK) != (w.Header().Get("Connection") == "close") {
				t.Errorf("%s, a body of %d bytes: %d, Connection %q, want %d", path, length, w.Code, w.Header().Get("Connection"), want)
			}
		}
	}
}
