//go:build linux

package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
)

// places has, for each kind of store, a function that starts a server and returns the URLs of places in it.
var places = map[string]func(t *testing.T) func(place string) string{
	"sqlite": func(t *testing.T) func(string) string {
		folder := t.TempDir()
		return func(place string) string { return "sqlite:" + filepath.Join(folder, place+".db") }
	},
	"mysql": func(t *testing.T) func(string) string {
		return databases(t, "mysql", servertest.MariaDB(t, t.TempDir()))
	},
	"postgres": func(t *testing.T) func(string) string {
		return databases(t, "postgres", servertest.Postgres(t, t.TempDir()))
	},
	"redis": func(t *testing.T) func(string) string {
		address := servertest.StartRedis(t, append([]string{"--requirepass", "secret"}, servertest.Durable...)...).Address()
		return func(place string) string { return "redis://:secret@" + address + "/?prefix={" + place + "}" }
	},
	"etcd": func(t *testing.T) func(string) string {
		address := servertest.StartEtcd(t, 1)[0].Address
		return func(place string) string { return "etcd://" + address + "/" + place }
	},
	"zk": func(t *testing.T) func(string) string {
		address := servertest.StartZooKeeper(t, 1, nil)[0].Address
		return func(place string) string { return "zk://" + address + "/" + place }
	},
	"kube": func(t *testing.T) func(string) string {
		k := servertest.StartKube(t)
		return func(place string) string {
			k.Namespace(t, place)
			return "kube://" + place + "?kubeconfig=" + k.Kubeconfig(t, servertest.KubeAdmin, "default")
		}
	},
}

// databases returns the URLs of databases that are made on a server.
func databases(t *testing.T, scheme string, d servertest.Database) func(place string) string {
	server := d.Start(t, dbtest.Answers)
	db, err := dbtest.Open(server.URL(server.Address))
	need.Must(t, err)
	t.Cleanup(func() { need.Must(t, dbtest.Close(db)) })
	user := map[string]string{"mysql": "root", "postgres": "postgres"}[scheme]
	return func(place string) string {
		need.Must(t, db.Exec("CREATE DATABASE "+place).Error)
		return scheme + "://" + user + "@" + server.Address + "/" + place
	}
}

// TestUpgrade runs an earlier build, in the folder UIDRING_TEST_BASE, beside this one on every kind of store, which either may
// have used first: a process of each, then a rollout (or a rollback) of one and the death of the other. No id repeats.
func TestUpgrade(t *testing.T) {
	base := os.Getenv("UIDRING_TEST_BASE")
	if base == "" {
		t.Skip("runs an earlier build: .ci/run promises")
	}
	for store, start := range places {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			url := start(t)
			for _, first := range []string{"base", "head"} {
				place := "UIDRING_TEST_PLACE=" + url(first)
				second := map[string]string{"base": "head", "head": "base"}[first]
				config := "stores: [{name: db, env: UIDRING_TEST_PLACE}]\nshutdown: {delay: 0s}\ngenerators:\n  - {name: ids, kind: cached, store: db}\n"
				names := []string{"ids"}
				if store == "sqlite" || store == "mysql" || store == "postgres" {
					config += "  - {name: registered, kind: default, worker: registry, store: db}\n"
					names = append(names, "registered")
				}
				if len(names) > 1 || store == "redis" {
					config += "  - {name: orders, kind: segment, store: db, create: true, step: 50, max_step: 50}\n"
					names = append(names, "orders")
				}
				run := func(version string) *running {
					dir := t.TempDir()
					args := []string{"--listen", "127.0.0.1:0", "--config", write(t, dir, "c.yaml", config)}
					r := &running{cmd: process(t, dir, args...)}
					if version == "base" {
						r.cmd = exec.CommandContext(t.Context(), filepath.Join(base, "uidringd"), args...)
						r.cmd.Env = os.Environ()
					}
					r.cmd.Env = append(r.cmd.Env, place)
					r.begin(t)
					servertest.Eventually(t, version+" is ready", func() bool { return r.ready(t) })
					return r
				}
				seen := map[string]bool{}
				a, b := run(first), run(second)
				drawn(t, seen, names, a, b)
				a.stop(t)
				a = run(second) // takes the number that was given back
				drawn(t, seen, names, a, b)
				b.end(t, syscall.SIGKILL)
				b = run(first)
				drawn(t, seen, names, a, b)
				for _, r := range []*running{a, b} {
					r.stop(t)
				}
			}
		})
	}
}

// drawn draws ids from two servers at once, and adds them to those that were seen.
func drawn(t *testing.T, seen map[string]bool, names []string, servers ...*running) {
	t.Helper()
	var texts [2][]string
	var drawing sync.WaitGroup
	for i, r := range servers {
		drawing.Go(func() {
			for range 20 {
				for _, name := range names {
					status, text := r.get(t, "/v1/"+name+"?n=100")
					if status != http.StatusOK {
						t.Errorf("%s: %d %s", name, status, text)
					}
					texts[i] = append(texts[i], text)
				}
			}
		})
	}
	drawing.Wait()
	repeats, before := 0, len(seen)
	for _, text := range append(texts[0], texts[1]...) {
		for id := range strings.Lines(text) {
			if seen[id] {
				repeats++
			}
			seen[id] = true
		}
	}
	if want := 2 * 20 * 100 * len(names); repeats > 0 || len(seen)-before != want {
		t.Fatalf("%d new ids, want %d; %d repeats", len(seen)-before, want, repeats)
	}
}
