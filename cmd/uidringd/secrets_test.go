package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/internal/test/need"
)

// hash returns what a config has of a token.
func hash(token string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(token))) }

// A token admits to its generators, or to operations; without a token a request is
// refused. No secret stands in the log, an answer, the metrics or the arguments.
func TestTokensAndSecrets(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "dsn", "secret-1.db\n")
	r := start(t, dir, "--config", write(t, dir, "c.yaml", `
stores: [{name: db, file: dsn}]
generators:
  - {name: ids, kind: cached, store: db}
  - {name: other, kind: slots, worker: "static:1"}
tokens:
  - {name: app, sha256: `+hash("secret-2")+`, generators: [i*]}
  - {name: ops, sha256: `+hash("secret-3")+`, operations: true}
`))
	all := ""
	for _, tt := range []struct {
		path, token string
		want        int
	}{
		{"/v1/ids", "secret-2", 200},
		{"/v1/other", "secret-2", 403},
		{"/v1/ids", "secret-3", 403},
		{"/v1/ids", "secret-4", 401},
		{"/v1/ids", "", 401},
		{"/metrics", "secret-3", 200},
		{"/status/", "secret-3", 200},
		{"/", "secret-3", 200},
		{"/metrics", "secret-2", 403},
		{"/status/", "", 401},
		{"/", "", 401},
		{"/healthz", "", 200},
		{"/readyz", "", 200},
		{"/v1/ids?token=secret-2", "", 401},
	} {
		header := []string{"Host: elsewhere.example"} // callers authenticate, so any will do
		if tt.token != "" {
			header = append(header, "Authorization: Bearer "+tt.token)
		}
		status, text := r.get(t, tt.path, header...)
		if status != tt.want {
			t.Errorf("%s with %q: %d, want %d", tt.path, tt.token, status, tt.want)
		}
		all += text
	}
	_, metrics := r.get(t, "/metrics", "Authorization: Bearer secret-3")
	const of = "\nuidringd_caller_requests_total{caller="
	clitest.Wants(t, metrics, of+`"app",code="200"} 1`+"\n", of+`"app",code="403"} 2`+"\n", of+`"(none)",code="401"} 5`+"\n", of+`"ops",code="403"} 1`+"\n")
	all += metrics
	basic := func(token string) string { return base64.StdEncoding.EncodeToString([]byte("anybody:" + token)) } // as a browser sends it
	for token, want := range map[string]int{"secret-3": 200, "secret-2": 401, "secret-4": 401, "": 401} {
		for path, want := range map[string]int{"/": want, "/metrics": want, "/status/": want, "/status/stats.json": want, "/v1/ids": 401} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+path, nil)
			need.Must(t, err)
			request.SetBasicAuth("anybody", token) // as a browser does
			answer, err := http.DefaultClient.Do(request)
			need.Must(t, err)
			answer.Body.Close()
			if asks := strings.Contains(fmt.Sprint(answer.Header.Values("WWW-Authenticate")), "Basic "); answer.StatusCode != want || asks != (want == 401 && path != "/v1/ids") {
				t.Errorf("%s with the password %q: %d, asks for one: %t; want %d", path, token, answer.StatusCode, asks, want)
			}
		}
	}
	args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", r.cmd.Process.Pid))
	if err != nil && runtime.GOOS == "linux" {
		t.Error(err)
	}
	_ = r.end(t, os.Interrupt)
	for _, secret := range []string{"secret-2", "secret-3", "secret-4", basic("secret-3"), basic("secret-4")} {
		for place, text := range map[string]string{"the log": r.log.String(), "an answer": all, "the arguments": string(args)} {
			if strings.Contains(text, secret) {
				t.Errorf("%s shows %s", place, secret)
			}
		}
	}
	if r.log.Count(`route="GET /v1/{name}"`, "status=401") == 0 || r.log.Count(" caller=app ") == 0 {
		t.Errorf("no line about a request without a token, or no caller in any: %s", &r.log)
	}
}

// Text of a client gets neither into the log nor into a label, so that nobody can forge a
// line or make the metrics grow. Each request counts under its route and its status.
func TestForeignText(t *testing.T) {
	r := startConfig(t, `
stores: [{name: file, url: ids.db}]
generators:
  - {name: ids, kind: segment, store: file, create: true}
  - {name: all, kind: tags, store: file, match: "*"}
log: {requests_per_s: 1000000}
shutdown: {delay: 0s}
`)
	long := strings.Repeat("forged", 2000)
	for _, request := range []string{
		"GET /v1/forged", "GET /v1/forged%0Atime=forged%20level=ERROR%00", "GET /v1/ids/parse/forged", "GET /v1/ids?n=forged",
		"FORGED /v1/ids", "FORGED /forged", "CONNECT forged:1", "GET forged", "GET http://forged/forged", "GET //forged", "GET /v1/../forged", "GET /v1/" + long,
		"GET /api/segment/get/forged", "GET /forged", "GET /status/forged", "POST /uidring.v1.IdService/Forged", "GET /v1/ids HTTP/forged",
		`POST /uidring.v1.IdService/Next HTTP/1.1
Content-Type: application/json
Content-Length: 17

{"name":"forged"}`,
	} {
		conn, err := net.Dial("tcp", r.address())
		need.Must(t, err)
		defer conn.Close()
		line, rest, more := strings.Cut(request, "\n")
		if !strings.Contains(line, " HTTP/") {
			line += " HTTP/1.1"
		}
		if !more {
			rest = "\n"
		}
		request = line + "\nHost: forged\nUser-Agent: forged\nReferer: forged\nConnection: close\n" + rest
		if _, err := io.WriteString(conn, strings.ReplaceAll(request, "\n", "\r\n")); err != nil {
			t.Error(err)
		}
		answer, err := io.ReadAll(conn)
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 4") {
			t.Errorf("%.60q: %.200q, %v; want a refusal", request, answer, err)
		}
	}
	r.serves(t, "/v1/ids?n=3")
	_, metrics := r.get(t, "/metrics")
	for _, want := range []string{
		`_count{code="404",route="/"} `, `_count{code="403",route="GET /status/"} 1`, `_count{code="404",route="/uidring.v1.IdService/Next"} 1`,
		`_count{code="200",route="GET /v1/{name}"} 1`, `_bucket{code="200",route="GET /v1/{name}",le="+Inf"} 1`,
	} {
		clitest.Wants(t, metrics, "\nuidringd_request_duration_seconds"+want)
	}
	clitest.Wants(t, metrics, "\nuidring_ids_issued_total{generator=\"ids\"} 3", "\nuidring_loads_total{generator=\"ids\"} 1", "\ngo_goroutines ")
	_ = r.end(t, os.Interrupt)
	for place, text := range map[string]string{"the log": r.log.String(), "the metrics": metrics} {
		if strings.Contains(strings.ToLower(text), "forged") {
			t.Errorf("text of a client is in %s: %s", place, text)
		}
	}
	clitest.Wants(t, r.log.String(), `route="GET /v1/{name}" proto=HTTP/1.1 status=404`)
}
