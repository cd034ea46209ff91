//go:build unix

package main

import (
	"fmt"
	"html"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
)

// commands returns the lines of a program that the page at / has.
func commands(page, program string) (lines []string) {
	for _, line := range regexp.MustCompile(`(?m)^(?:<pre>)?((?:`+program+`) .*?)(?:</pre>)?$`).FindAllStringSubmatch(page, -1) {
		lines = append(lines, html.UnescapeString(line[1]))
	}
	return lines
}

// shell runs a line as it stands, and returns the numbers in what it prints.
func shell(t *testing.T, line string) []string {
	t.Helper()
	script := "curl() { command " + need.Program(t, "curl") + " -sSf \"$@\"; }; " + line
	out, err := exec.CommandContext(t.Context(), "sh", "-c", script).CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v, %s", line, err, out)
	}
	return regexp.MustCompile(`\d+`).FindAllString(string(out), -1)
}

// From an empty folder, without a config: the line that the server prints and every line of the page work
// as they stand, and the second start goes on where the first one ended.
func TestFirstStart(t *testing.T) {
	need.Program(t, "redis-cli")
	dir := t.TempDir()
	seen := map[string]bool{}
	for begun := range 2 {
		r := start(t, dir)
		status, page := r.get(t, "/")
		lines := append(commands(page, "curl|redis-cli"), r.redisCommand)
		if status != http.StatusOK || len(lines) != 8+2+1 {
			t.Errorf("%d, %d lines, want 8 of curl and 2 of redis-cli: %s", status, len(lines), page)
		}
		for _, line := range lines {
			ids := shell(t, line)
			if strings.Contains(line, "orders") || strings.Contains(line, "/runs") {
				continue // counted below; has other numbers too
			}
			for _, id := range ids {
				if seen[id] {
					t.Errorf("%s: %s repeats", line, id)
				}
				seen[id] = true
			}
		}
		// 1 + 5 + 5 + 1000 + 1 orders of the page, and the next: none is lost by the restart.
		if _, text := r.get(t, "/v1/orders"); text != fmt.Sprintln(1013*(begun+1)) {
			t.Errorf("order %q after start %d, want %d", text, begun, 1013*(begun+1))
		}
		_, text := get(t, http.DefaultClient, "http://"+r.redisAddress)
		clitest.Wants(t, text, "HTTP, gRPC and Connect are at "+r.url)
		r.stop(t)
	}
	if len(seen) != 2*13 {
		t.Errorf("%d ids, want 26", len(seen))
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 || files[0].Name() != "uidring.db" {
		t.Errorf("files %v, %v; want uidring.db alone", files, err)
	}
}

// The page has the clocked generators first, whatever the config's order, each with its
// state. Its lines work with a token. It does not list tags, of which thousands may be open.
func TestPage(t *testing.T) {
	const token = "any-token"
	t.Setenv("TOKEN", token)
	r := startConfig(t, `
stores: [{name: file, url: ids.db}]
generators:
  - {name: one, kind: segment, store: file, create: true}
  - {name: all, kind: tags, store: file, match: "it-*"}
  - {name: spent, kind: segment, store: file, create: true, limit: 2}
  - {name: ids, kind: slots, worker: "static:1"}
tokens: [{name: t, sha256: `+hash(token)+`, generators: ["*"], operations: true}]
`)
	bearer := "Authorization: Bearer " + token
	for range 3 {
		_, _ = r.get(t, "/v1/spent", bearer)
	}
	page := ""
	servertest.Eventually(t, "the page says what is not ready", func() bool {
		_, page = r.get(t, "/", bearer)
		return strings.Contains(page, `<a href="status/?name=spent">Not ready</a>: `)
	})
	var names []string
	for _, h2 := range regexp.MustCompile("<h2>(.*)</h2>").FindAllStringSubmatch(page, -1) {
		names = append(names, html.UnescapeString(h2[1]))
	}
	if want := []string{"ids", "one", "all", "spent"}; !slices.Equal(names, want) {
		t.Errorf("the page lists %q, want %q", names, want)
	}
	lines := commands(page, "curl")
	if len(lines) != 4*4 {
		t.Errorf("%d lines of curl, want 16: %s", len(lines), page)
	}
	for _, line := range lines[:8] {
		if len(shell(t, line)) == 0 {
			t.Errorf("%s: no id", line)
		}
	}
	clitest.Wants(t, page, `<a href="status/?name=ids">Ready</a></p>`, `<a href="status/?name=one">Ready</a></p>`, `<a href="status/?q=it-">Ready</a></p>`)
	if _, status := r.get(t, "/status/?name=ids", bearer); !strings.Contains(status, `<a href="../">Home</a>`) || strings.Contains(status, "Config.") {
		t.Errorf("the status page has no link to the other page, or Go's names: %s", status)
	}
}

// The config is checked and printed without serving. Each way to go wrong has its exit
// code, and shows no password. An address that is taken costs no worker number.
func TestCheckAndPrint(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	need.Must(t, err)
	defer taken.Close()
	if redis, err := net.Listen("tcp", "127.0.0.1:6380"); err == nil { // else another process has the port, which does as well
		defer redis.Close()
	}
	t.Setenv("UIDRINGD_TEST_STORE", "mysql://u:secret-1@127.0.0.1:1/test")
	dir := t.TempDir()
	good := write(t, dir, "good.yaml", "generators: [{name: ids, kind: slots, worker: \"static:1\"}]\n")
	bad := write(t, dir, "bad.yaml", "listen: 127.0.0.1:80\ngenerators: [{name: ids, kind: slots, worker: \"static:1\", slot: 1, slots: x}]\n")
	unavailable := write(t, dir, "unavailable.yaml", "stores: [{name: db, env: UIDRINGD_TEST_STORE}, {name: file, url: none/ids.db}]\n"+
		"generators: [{name: ids, kind: cached, store: db}, {name: o, kind: segment, store: db}, {name: d, kind: segment, store: file}]\n")
	for _, tt := range []struct {
		args []string
		code int
		want []string // on standard output, or on standard error if it fails
	}{
		{[]string{"--config", good, "--check"}, 0, []string{"good.yaml has no errors"}},
		{[]string{"--check"}, 0, []string{"the config that is served without --config has no errors"}},
		{[]string{"--config", good, "--print-config"}, 0, []string{"slots: 256", "listen: 127.0.0.1:8080", "wait: 2s"}},
		{[]string{"--print-config"}, 0, []string{"url: uidring.db"}},
		{[]string{"--config", bad, "--check"}, 2, []string{
			"bad.yaml: line 2: generators[0].slot: there is no such key", "line 2: generators[0].slots: is \"x\", want a whole number"}},
		{[]string{"--config", bad}, 2, []string{"line 2: generators[0].slot:"}},
		{[]string{"--config", "none.yaml"}, 2, []string{"none.yaml: no such file"}},
		{[]string{"--listen", "0.0.0.0:0"}, 2, []string{"nobody has to authenticate"}},
		{[]string{"--listen", "127.0.0.1:0", "--config", unavailable}, 1, []string{
			`generator "ids", "o": mysql://u@127.0.0.1:1/test ($UIDRINGD_TEST_STORE): `, "connection refused", `generator "d": SQLite file`}},
		{[]string{"--listen", taken.Addr().String()}, 1, []string{"uidringd: listen (or --listen): ", "address already in use"}},
		{[]string{"--listen", "127.0.0.1:0", "--redis", taken.Addr().String()}, 1, []string{"uidringd: redis.listen (or --redis): ", "address already in use"}},
		{[]string{"--listen", "127.0.0.1:0", "--redis", "127.0.0.1:6380", "--config", unavailable}, 1, []string{"address already in use"}}, // without --config the server goes on
		{[]string{"serve"}, 2, []string{`unknown`}},
		{[]string{"--nosuch"}, 2, []string{`unknown flag: --nosuch`}},
	} {
		cmd := process(t, dir, tt.args...)
		var stdout, stderr strings.Builder
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run()
		said, silent := &stdout, &stderr
		if tt.code != 0 {
			said, silent = silent, said
		}
		if code := cmd.ProcessState.ExitCode(); code != tt.code || silent.Len() > 0 || strings.Contains(said.String(), "secret-1") {
			t.Errorf("%q: exit code %d, %s, %s; want %d", tt.args, code, &stdout, &stderr, tt.code)
		}
		clitest.Wants(t, said.String(), tt.want...)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 3 {
		t.Errorf("files %v, %v; want that no database was made", files, err)
	}
}
