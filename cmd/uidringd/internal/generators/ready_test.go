//go:build linux

package generators_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/cmd/uidringd/internal/generators"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/internal/sqlitefile"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// The server is ready with all generators but the optional ones, and at least one.
func TestReady(t *testing.T) {
	s := open(t, `
generators:
  - {name: a, kind: slots, worker: "static:1"}
  - {name: b, kind: slots, worker: "static:2"}
  - {name: c, kind: slots, worker: "static:3", optional: true}
`)
	defer end(t, s)
	for names, want := range map[string]bool{"": true, "a": false, "a b": false, "c": true, "b c": false, "a b c": false} {
		unready := map[string]error{}
		for name := range strings.FieldsSeq(names) {
			unready[name] = errors.New("unavailable")
		}
		if err := s.Ready(unready); (err == nil) != want {
			t.Errorf("without %q: %v, want ready %v", names, err, want)
		}
	}
}

// A store that hangs, or a number that another process holds, keeps the others no longer than
// the grace, and Close no longer than its context. Tags start meanwhile.
func TestHangingStart(t *testing.T) {
	t.Chdir(t.TempDir())
	hanging, err := net.Listen("tcp", "127.0.0.1:0") // a start waits a minute for it
	need.Must(t, err)
	defer hanging.Close()
	held := `  - {name: held, kind: slots, worker: "static:9", store: file}`
	holder := open(t, "stores: [{name: file, url: ids.db}]\ngenerators:\n"+held)
	defer end(t, holder)
	text := `
stores: [{name: file, url: ids.db}, {name: etcd, url: "etcd://` + hanging.Addr().String() + `?timeout=1m"}]
generators:
  - {name: a, kind: slots, worker: "static:1"}
  - {name: b, kind: slots, store: etcd}
  - {name: tags, kind: tags, store: file, match: "*"}
` + held
	s := open(t, text)
	draw(t, s, "a", 1)
	if _, err := s.Open(t.Context(), "b"); !errors.Is(err, service.ErrNotStarted) || !errors.Is(err, service.ErrStarting) {
		t.Errorf("b: %v, want its start to be under way", err)
	}
	_, err = s.Open(t.Context(), "nosuch") // a tag beside a held number
	need.Error(t, err, service.ErrUnknown)
	end(t, s)
}

// The context of Open bounds each start: of a number that another process holds, of a counter in a
// file that is locked, and in a store that does not answer. That of Set.Open bounds the opening of a
// tag.
func TestStartsEndWithTheirContext(t *testing.T) {
	t.Chdir(t.TempDir())
	hanging, err := net.Listen("tcp", "127.0.0.1:0")
	need.Must(t, err)
	defer hanging.Close()
	numbers := `
shutdown: {release: 15s}
stores: [{name: file, url: ids.db}]
generators:
  - {name: a, kind: cached, worker: "static:1", store: file, expiry: 10m}
  - {name: b, kind: default, worker: "static:2", store: file, expiry: 10m}
  - {name: c, kind: slots, worker: "static:3", store: file, expiry: 10m}
`
	counter := "  - {name: orders, kind: segment, store: file, create: true, load_timeout: 1m}\n"
	held := open(t, numbers+counter+"  - {name: tags, kind: tags, store: file, match: o*, load_timeout: 5s}\n")
	defer end(t, held)
	db, _, err := sqlitefile.Open("ids.db", url.Values{})
	need.Must(t, err)
	defer db.Close()
	tx, err := db.Begin()
	need.Must(t, err)
	defer tx.Rollback()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = held.Open(ended, "o")
	need.Error(t, err, context.Canceled)
	before, _, _ := strings.Cut(numbers, "  - ")
	for _, text := range []string{numbers, before + counter, `
shutdown: {release: 15s}
stores: [{name: etcd, url: "etcd://` + hanging.Addr().String() + `?timeout=1m"}, {name: redis, url: "redis://` + hanging.Addr().String() + `?timeout=1m"}]
generators:
  - {name: a, kind: slots, store: etcd}
  - {name: b, kind: segment, store: redis}
  - {name: c, kind: tags, store: redis, match: o*}
`} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		began := time.Now()
		if s, err := generators.Open(ctx, parse(t, text), silent); s != nil || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 10*time.Second {
			t.Fatalf("after %v: %v; of %s", time.Since(began), err, text)
		}
	}
	var log logged.Text
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		servertest.Eventually(t, "a has started", func() bool { return log.Count("uid: started") > 0 })
	}()
	if s, err := generators.Open(ctx, parse(t, `
stores: [{name: other, url: other.db}, {name: redis, url: "redis://`+hanging.Addr().String()+`?timeout=1m"}]
generators:
  - {name: a, kind: cached, store: other}
  - {name: b, kind: segment, store: redis}
`), log.Logger()); s != nil || !errors.Is(err, context.Canceled) {
		t.Fatalf("%v after a has started", err)
	}
	s := open(t, "stores: [{name: other, url: other.db}]\ngenerators: [{name: a, kind: cached, store: other}]\n")
	defer end(t, s)
	if got := s.Stats()["a"].Clock.Worker; got != 1 {
		t.Errorf("worker %d, want the number that was given back", got)
	}
}

// Tags are not ready once their store has refused one, until it answers again.
func TestUnready(t *testing.T) {
	server := servertest.StartRedis(t, servertest.Durable...)
	s := open(t, `
stores: [{name: redis, url: "redis://`+server.Address()+`"}]
generators: [{name: tags, kind: tags, store: redis, match: "*", load_timeout: 200ms}]
`)
	defer end(t, s)
	server.Pause()
	_, _ = s.Open(t.Context(), "customers")
	if s.Unready()["tags"] == nil {
		t.Error("tags are ready without their store")
	}
	server.Continue()
	servertest.Eventually(t, "tags are ready again", func() bool { return len(s.Unready()) == 0 })
}

// A generator starts once the clock is right. A machine may boot with a clock that is before the layout's epoch.
func TestClockBeforeEpoch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ids.db")
	db, err := database.DSN{Text: path}.Open(t.Context())
	need.Must(t, err)
	defer db.Close()
	leaser := worker.NewLeaser(db.DB, lease.Config{})
	gen, err := uid.NewDefault(t.Context(), leaser, uid.DefaultConfig{})
	need.Must(t, err)
	need.Must(t, gen.Close())
	late := bits.Fleet()
	late.Epoch = time.Now().Add(4 * time.Second).UTC().Truncate(time.Second)
	_, err = leaser.ChangeLayout(t.Context(), late)
	need.Must(t, err)
	s := open(t, fmt.Sprintf("stores: [{name: db, url: %s}]\ngenerators: [{name: ids, kind: cached, store: db}, {name: n, kind: segment, store: db, create: true}]", path))
	defer end(t, s)
	if err := s.Unready()["ids"]; !errors.Is(err, uid.ErrConfig) || !time.Now().Before(late.Epoch) {
		t.Fatalf("%v before the layout's epoch", err)
	}
	servertest.Eventually(t, "the generator is ready", func() bool { return len(s.Unready()) == 0 })
	draw(t, s, "ids", 1)
}
