package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

func needSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be sent signals there")
	}
}

// curls returns the lines of curl that the page at / has.
func curls(page string) (lines []string) {
	for _, line := range regexp.MustCompile(`(?m)^(?:<pre>)?(curl .*?)(?:</pre>)?$`).FindAllStringSubmatch(page, -1) {
		lines = append(lines, html.UnescapeString(line[1]))
	}
	return lines
}

// shell runs a line as it stands, and returns the numbers in what it prints.
func shell(t *testing.T, line string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", "curl() { command curl -sSf \"$@\"; }; "+line).CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v, %s", line, err, out)
	}
	return regexp.MustCompile(`\d+`).FindAllString(string(out), -1)
}

// From an empty folder, without a config: every line of the page works as it stands,
// and the second start goes on where the first one ended.
func TestFirstStart(t *testing.T) {
	needSignals(t)
	dir := t.TempDir()
	seen := map[string]bool{}
	for begun := range 2 {
		r := start(t, dir)
		status, page := get(t, http.DefaultClient, r.url+"/")
		lines := curls(page)
		if status != http.StatusOK || len(lines) != 8 {
			t.Errorf("%d, %d lines of curl, want 8: %s", status, len(lines), page)
		}
		for _, line := range lines {
			ids := shell(t, line)
			if strings.Contains(line, "/orders") || strings.Contains(line, "/runs") {
				continue // counted below; has other numbers too
			}
			for _, id := range ids {
				if seen[id] {
					t.Errorf("%s: %s repeats", line, id)
				}
				seen[id] = true
			}
		}
		// 1 + 5 + 5 + 1000 orders of the page, and the next: none is lost by the restart.
		if _, text := get(t, http.DefaultClient, r.url+"/v1/orders"); text != fmt.Sprintln(1012*(begun+1)) {
			t.Errorf("order %q after start %d, want %d", text, begun, 1012*(begun+1))
		}
		if code := r.end(t, syscall.SIGTERM); code != 0 {
			t.Errorf("exit code %d, want 0: %s", code, &r.log)
		}
	}
	if len(seen) != 2*11 {
		t.Errorf("%d ids, want 22", len(seen))
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 || files[0].Name() != "uidring.db" {
		t.Errorf("files %v, %v; want uidring.db alone", files, err)
	}
}

// The page has the clocked generators first, whatever the config's order. Its lines work
// with a token, and for a counter of any name.
func TestPage(t *testing.T) {
	const token = "any-token"
	t.Setenv("TOKEN", token)
	dir := t.TempDir()
	r := start(t, dir, "--config", write(t, dir, "c.yaml", `
stores: [{name: file, url: ids.db}]
generators:
  - {name: one, kind: segment, store: file, create: true, tag: "it's $1 & <b>"}
  - {name: all, kind: tags, store: file, match: "it*"}
  - {name: ids, kind: slots, worker: "static:1"}
tokens: [{name: t, sha256: `+fmt.Sprintf("%x", sha256.Sum256([]byte(token)))+`, generators: ["*"], operations: true}]
`))
	bearer := "Authorization: Bearer " + token
	if status, text := get(t, http.DefaultClient, r.url+"/v1/it%27s%20$1%20&%20%3Cb%3E", bearer); status != http.StatusOK {
		t.Errorf("%d, %s", status, text)
	}
	_, page := get(t, http.DefaultClient, r.url+"/", bearer)
	var names []string
	for _, h2 := range regexp.MustCompile("<h2>(.*)</h2>").FindAllStringSubmatch(page, -1) {
		names = append(names, html.UnescapeString(h2[1]))
	}
	if want := []string{"ids", "one", "it's $1 & <b>", "it*"}; !slices.Equal(names, want) {
		t.Errorf("the page lists %q, want %q", names, want)
	}
	lines := curls(page)
	if len(lines) != 3*4+1 {
		t.Errorf("%d lines of curl, want 13: %s", len(lines), page)
	}
	for _, line := range lines {
		if !strings.HasSuffix(line, "/v1/TAG") && len(shell(t, line)) == 0 {
			t.Errorf("%s: no id", line)
		}
	}
}

// No answer may be cached, on whatever route. What reads changes nothing: only a request
// for ids draws, and no request makes a counter. The log is JSON if the config says so.
func TestReads(t *testing.T) {
	dir := t.TempDir()
	r := start(t, dir, "--config", write(t, dir, "c.yaml", `
stores: [{name: file, url: ids.db}]
generators:
  - {name: ids, kind: cached, store: file}
  - {name: orders, kind: segment, store: file, create: true}
  - {name: all, kind: tags, store: file, match: "*"}
log: {format: json, requests_per_s: 1000}
shutdown: {delay: 0s}
`))
	ask := func(want int, method, path string) string {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, r.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultTransport.RoundTrip(request) // follows no redirect
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if cache := answer.Header.Get("Cache-Control"); want != 0 && answer.StatusCode != want || cache != "no-store" {
			t.Errorf("%s %s: %d, Cache-Control %q; want %d, no-store", method, path, answer.StatusCode, cache, want)
		}
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	loads := func() string {
		return regexp.MustCompile(`uidring_segment_(loads|ids_issued)_total.*`).FindString(ask(200, "GET", "/metrics"))
	}
	if got := ask(200, "GET", "/v1/orders"); got != "1\n" {
		t.Errorf("order %q, want 1", got)
	}
	before := loads()
	for path, want := range map[string]int{
		"/": 200, "/healthz": 200, "/readyz": 200, "/status/": 200, "/status/stats.json": 200, "/openapi.yaml": 200,
		"/v1/orders/parse/7": 200, "/v1/ids/parse/7": 200, "/decodeSnowflakeId?snowflakeId=7": 200,
		"/v1/order": 404, "/api/segment/get/order": 404, "/nowhere": 404, "/v1/orders/runs": 405, "/v1/orders?n=0": 400,
		"/v1//orders": 0 /* a redirect, by Go's version */, "/uidring.v1.IdService/Next": 405,
	} {
		ask(want, "GET", path)
	}
	ask(200, "HEAD", "/v1/orders")
	if after := loads(); after != before || before == "" {
		t.Errorf("%s, was %s", after, before)
	}
	if got := ask(200, "GET", "/v1/orders"); got != "2\n" {
		t.Errorf("order %q, want 2", got)
	}
	_ = r.end(t, os.Interrupt)
	requests := 0
	for line := range strings.Lines(r.log.String()) {
		var entry struct {
			Msg, Method, Path string
			Status            int
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Msg == "" {
			t.Errorf("%s: %v, want JSON", line, err)
		}
		if entry.Msg == "request" && entry.Method != "" && entry.Path != "" && entry.Status >= 200 {
			requests++
		}
	}
	if requests != 21 {
		t.Errorf("%d lines about requests, want 21: %s", requests, &r.log)
	}
}

// Requests that are in flight when SIGTERM comes are answered, and end their
// connections; the server is not ready at once, and gives back its number and its range.
func TestTerminate(t *testing.T) {
	needSignals(t)
	dir := t.TempDir()
	config := write(t, dir, "uidring.yaml", `
stores: [{name: file, url: uidring.db}]
generators:
  - {name: ids, kind: cached, store: file}
  - {name: orders, kind: segment, store: file, create: true}
shutdown: {delay: 1s}
log: {requests_per_s: 0}
`)
	r := start(t, dir, "--config", config)
	var clients sync.WaitGroup
	var answered, failed atomic.Int64
	for range 4 {
		clients.Go(func() {
			client := &http.Client{Transport: new(http.Transport)} // a connection of its own
			defer client.CloseIdleConnections()
			for {
				answer, err := client.Get(r.url + "/v1/ids?n=1000")
				if err != nil || answer.StatusCode != http.StatusOK {
					failed.Add(1)
					t.Error(answer, err)
					return
				}
				answer.Body.Close()
				answered.Add(1)
				if answer.Close { // the server asks to go elsewhere
					return
				}
			}
		})
	}
	for answered.Load() < 100 {
		runtime.Gosched()
	}
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for {
		status, text := get(t, http.DefaultClient, r.url+"/readyz")
		if status == http.StatusServiceUnavailable && text == "not ready: the server is stopping\n" {
			break
		}
	}
	if status, _ := get(t, http.DefaultClient, r.url+"/v1/ids"); status != http.StatusOK {
		t.Errorf("status %d while the server drains, want 200", status)
	}
	clients.Wait()
	_ = r.cmd.Wait()
	if code := r.cmd.ProcessState.ExitCode(); code != 0 || failed.Load() > 0 {
		t.Errorf("exit code %d, %d of %d requests failed: %s", code, failed.Load(), answered.Load(), &r.log)
	}
	out, err := process(t, dir, "workers", "--dsn", "uidring.db").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "free") {
		t.Errorf("%v, %s; want the number to be free", err, out)
	}
}

// A client that never ends its request holds the end up no longer than the config
// allows, and nobody else in the meantime.
func TestSlowClient(t *testing.T) {
	needSignals(t)
	dir := t.TempDir()
	r := start(t, dir, "--config", write(t, dir, "c.yaml", `
generators: [{name: ids, kind: slots, worker: "static:1"}]
limits: {read_header: 1h, read: 1h, write: 1h}
shutdown: {delay: 0s, drain: 100ms}
`))
	for range 100 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "GET /v1/ids HTTP/1.1\r\nHost: "); err != nil {
			t.Fatal(err)
		}
	}
	if status, _ := get(t, http.DefaultClient, r.url+"/v1/ids"); status != http.StatusOK {
		t.Errorf("status %d beside slow clients, want 200", status)
	}
	if code := r.end(t, syscall.SIGTERM); code != 0 || !strings.Contains(r.log.String(), `msg="requests were cut off" after=100ms`) {
		t.Errorf("exit code %d, want 0: %s", code, &r.log)
	}
}

// A second signal ends a process that is waiting.
func TestSecondSignal(t *testing.T) {
	needSignals(t)
	dir := t.TempDir()
	r := start(t, dir, "--config", write(t, dir, "c.yaml", "generators: [{name: ids, kind: slots, worker: \"static:1\"}]\nshutdown: {delay: 1h}\n"))
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(r.log.String(), "msg=stopping") {
		runtime.Gosched()
	}
	if code := r.end(t, syscall.SIGTERM); code == 0 {
		t.Errorf("exit code %d, want that of the signal", code)
	}
}

// The config is checked and printed without serving; each way to go wrong has its exit
// code.
func TestCheckAndPrint(t *testing.T) {
	dir := t.TempDir()
	good := write(t, dir, "good.yaml", "generators: [{name: ids, kind: slots, worker: \"static:1\"}]\n")
	bad := write(t, dir, "bad.yaml", "listen: 0.0.0.0:80\ngenerators: [{name: ids, kind: slots, worker: \"static:1\", slot: 1, slots: x}]\n")
	away := write(t, dir, "away.yaml", "stores: [{name: db, url: \"mysql://root@127.0.0.1:1/test\"}]\ngenerators: [{name: ids, kind: cached, store: db}, {name: o, kind: segment, store: db}]\n")
	for _, tt := range []struct {
		args           []string
		code           int
		stdout, stderr []string
	}{
		{[]string{"--config", good, "--check"}, 0, []string{"good.yaml has no faults"}, nil},
		{[]string{"--check"}, 0, []string{"the config that is served without --config has no faults"}, nil},
		{[]string{"--config", good, "--print-config"}, 0, []string{"slots: 256", "listen: 127.0.0.1:8080", "wait: 2s"}, nil},
		{[]string{"--print-config"}, 0, []string{"url: uidring.db"}, nil},
		{[]string{"--config", bad, "--check"}, 2, nil, []string{
			"bad.yaml: line 1: listen: is \"0.0.0.0:80\"", "line 2: generators[0].slot: there is no such key", "line 2: generators[0].slots: is \"x\", want a whole number"}},
		{[]string{"--config", bad}, 2, nil, []string{"line 1: listen"}},
		{[]string{"--config", "none.yaml"}, 2, nil, []string{"none.yaml: no such file"}},
		{[]string{"--listen", "0.0.0.0:0"}, 2, nil, []string{"nobody has to authenticate"}},
		{[]string{"--listen", "127.0.0.1:0", "--config", away}, 1, nil, []string{
			`generator "ids": mysql://root@127.0.0.1:1/test (the config): `, `generator "o": mysql://root@127.0.0.1:1/test (the config): `, "connection refused"}},
		{[]string{"serve"}, 2, nil, []string{`unknown`}},
		{[]string{"--nosuch"}, 2, nil, []string{`unknown flag: --nosuch`}},
	} {
		cmd := process(t, dir, tt.args...)
		var stdout, stderr strings.Builder
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != tt.code || (tt.stdout == nil) != (stdout.Len() == 0) || (tt.stderr == nil) != (stderr.Len() == 0) {
			t.Errorf("%q: exit code %d, %s, %s; want %d", tt.args, code, &stdout, &stderr, tt.code)
		}
		for _, want := range tt.stdout {
			if !strings.Contains(stdout.String(), want) {
				t.Errorf("%q: %s, want %q", tt.args, &stdout, want)
			}
		}
		for _, want := range tt.stderr {
			if !strings.Contains(stderr.String(), want) {
				t.Errorf("%q: %s, want %q", tt.args, &stderr, want)
			}
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 3 {
		t.Errorf("files %v, %v; want that no database was made", files, err)
	}
}

// An address that is taken is an error, and costs no worker number.
func TestAddressTaken(t *testing.T) {
	dir := t.TempDir()
	r := start(t, dir)
	out, err := process(t, t.TempDir(), "--listen", strings.TrimPrefix(r.url, "http://")).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "address already in use") {
		t.Errorf("%v, %s", err, out)
	}
}

// Tokens are needed where the config has some, each for what it is for, and no secret
// is in the log, in an answer, in metrics or among the process's arguments.
func TestTokensAndSecrets(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "dsn", "secret-1.db\n")
	hash := func(token string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(token))) }
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
		{"/metrics", "secret-2", 401},
		{"/status/", "", 401},
		{"/", "", 401},
		{"/healthz", "", 200},
		{"/readyz", "", 200},
		{"/v1/ids?token=secret-2", "", 401},
	} {
		var header []string
		if tt.token != "" {
			header = []string{"Authorization: Bearer " + tt.token}
		}
		status, text := get(t, http.DefaultClient, r.url+tt.path, header...)
		if status != tt.want {
			t.Errorf("%s with %q: %d, want %d", tt.path, tt.token, status, tt.want)
		}
		all += text
	}
	args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", r.cmd.Process.Pid))
	if err != nil && runtime.GOOS == "linux" {
		t.Error(err)
	}
	_ = r.end(t, os.Interrupt)
	for _, secret := range []string{"secret-2", "secret-3", "secret-4"} {
		for place, text := range map[string]string{"the log": r.log.String(), "an answer": all, "the arguments": string(args)} {
			if strings.Contains(text, secret) {
				t.Errorf("%s shows %s", place, secret)
			}
		}
	}
	if !slices.ContainsFunc(strings.Split(r.log.String(), "\n"), func(line string) bool {
		return strings.Contains(line, "path=/v1/ids") && strings.Contains(line, "status=401")
	}) {
		t.Errorf("no line about a request without a token: %s", &r.log)
	}
}
