package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/uidring/uidring/internal/test/servertest"
)

// reload sends SIGHUP until the log has a new line with text.
func (r *running) reload(t *testing.T, text string) {
	t.Helper()
	before := strings.Count(r.log.String(), text)
	if err := r.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	servertest.Eventually(t, "a line with "+text, func() bool { return strings.Count(r.log.String(), text) > before })
}

// Tokens rotate while requests run. None fails, no id repeats, and a token that is gone
// admits no more.
func TestTokensRotate(t *testing.T) {
	needSignals(t)
	dir := t.TempDir()
	config := func(names ...string) string {
		text := `
stores: [{name: file, url: ids.db}]
generators:
  - {name: ids, kind: cached, store: file}
  - {name: orders, kind: segment, store: file, create: true}
shutdown: {delay: 0s}
log: {requests_per_s: 0}
tokens:
`
		for _, name := range names {
			text += fmt.Sprintf("  - {name: %s, sha256: %s, generators: [\"*\"]}\n", name, hash(name))
		}
		return write(t, dir, "c.yaml", text)
	}
	r := start(t, dir, "--config", config("t0", "t1"))
	var (
		clients sync.WaitGroup
		using   sync.RWMutex // held by a client while it uses the token of a round
		round   int
		over    atomic.Bool
		seen    sync.Map
	)
	for i := range 4 {
		path := []string{"/v1/ids", "/v1/orders"}[i%2]
		clients.Go(func() {
			client := &http.Client{Transport: new(http.Transport)}
			defer client.CloseIdleConnections()
			for !over.Load() {
				using.RLock()
				status, text := get(t, client, r.url+path+"?n=10", fmt.Sprintf("Authorization: Bearer t%d", round))
				using.RUnlock()
				if status != http.StatusOK {
					t.Errorf("%d %s", status, text)
					return
				}
				for _, id := range strings.Fields(text) {
					if _, twice := seen.LoadOrStore(path+id, true); twice {
						t.Errorf("%s: id %s was issued twice", path, id)
					}
				}
			}
		})
	}
	for i := range 10 {
		using.Lock() // nobody uses the token before any more
		round = i + 1
		using.Unlock()
		config(fmt.Sprintf("t%d", i+1), fmt.Sprintf("t%d", i+2))
		r.reload(t, "SIGHUP: the config was read again")
	}
	over.Store(true)
	clients.Wait()
	config("t-last")
	r.reload(t, `msg="SIGHUP: the config was read again" changed="tokens.t-last, tokens.t10, tokens.t11"`)
	if status, _ := get(t, http.DefaultClient, r.url+"/v1/ids", "Authorization: Bearer t10"); status != http.StatusUnauthorized {
		t.Errorf("a token that is gone: %d", status)
	}
	if status, _ := get(t, http.DefaultClient, r.url+"/v1/ids", "Authorization: Bearer t-last"); status != http.StatusOK {
		t.Errorf("the new token: %d", status)
	}
	if code := r.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d: %s", code, &r.log)
	}
}

// Limits take effect without a restart. A key that needs one is named, and then nothing
// changes; nor does anything with a file that has faults or is gone.
func TestReload(t *testing.T) {
	needSignals(t)
	dir := t.TempDir()
	const base = `
stores: [{name: file, url: ids.db}]
generators:
  - {name: ids, kind: cached, store: file}
  - {name: own, kind: slots, worker: "static:1", ids: 7}
shutdown: {delay: 0s}
`
	path := write(t, dir, "c.yaml", base+"limits: {ids: 5}\n")
	r := start(t, dir, "--config", path)
	is := func(path string, want int) {
		t.Helper()
		if status, text := get(t, http.DefaultClient, r.url+path); status != want {
			t.Errorf("%s: %d %s, want %d", path, status, text, want)
		}
	}
	is("/v1/ids?n=5", 200)
	is("/v1/ids?n=6", 400)
	write(t, dir, "c.yaml", base+"limits: {ids: 900000, requests: 1999, per_address: 400, wait: 1s}\nhosts: [ids.example]\nlog: {requests_per_s: 3}\n")
	r.reload(t, `msg="SIGHUP: the config was read again" changed="hosts, limits.ids, limits.per_address, limits.requests, limits.wait, log.requests_per_s"`)
	is("/v1/ids?n=300000", 200) // more than a caller may draw at once
	is("/v1/own?n=8", 400)
	write(t, dir, "c.yaml", strings.Replace(base, "ids, kind: cached", "ids, kind: default", 1)+"listen: 127.0.0.1:1\nlimits: {ids: 5, read: 1s}\n")
	r.reload(t, `msg="SIGHUP: the config stays as it is: a change of these keys needs a restart" keys="generators.ids, limits.read"`)
	is("/v1/ids?n=6", 200)
	write(t, dir, "c.yaml", base+"limits: {ids: 5, wait: never}\ntokens: 7\n")
	r.reload(t, `the file has faults" error="line 7: limits.wait: is \"never\", want a duration such as 1m30s; line 8: tokens: want a list"`)
	is("/v1/ids?n=6", 200)
	write(t, dir, "c.yaml", base+"limits: {ids: 900000, requests: 1999, per_address: 400, wait: 1s}\nhosts: [ids.example]\nlog: {requests_per_s: 3}\n")
	r.reload(t, "SIGHUP: the config was read again, and nothing in it has changed")
	if code := r.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d: %s", code, &r.log)
	}
	demo := start(t, t.TempDir())
	demo.reload(t, "the server was started without --config")
	if status, text := get(t, http.DefaultClient, demo.url+"/v1/ids"); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
}
