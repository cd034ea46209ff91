//go:build linux

package generators_test

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/schema"
	"github.com/uidring/uidring/cmd/uidringd/internal/generators"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/internal/sqlitefile"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// The generator b has its own file. On a shared one, the Registry's keys could pass the numbers of a
// range or an Assigner, depending on which generator starts first.
const everyKind = `
stores: [{name: file, url: ids.db}, {name: keys, url: keys.db}]
limits: {ids: 500}
generators:
  - {name: a, kind: cached, store: file, numbers: 0-8, ids: 7}
  - {name: b, kind: default, worker: registry, store: keys}
  - {name: c, kind: slots, worker: "static:5", layout: snowflake}
  - {name: d, kind: default, worker: "static:9", store: file, max_backward: 1ns}
  - {name: e, kind: cached, store: file, numbers: 100-199, max_borrow: 1ns, max_age: -1ns}
  - {name: orders, kind: segment, store: file, create: true}
  - {name: other, kind: segment, store: file, create: true, tag: order-1}
  - {name: hidden, kind: segment, store: file, create: true, tag: hidden-1}
  - {name: tags, kind: tags, store: file, match: order-*}
`

func TestEveryKind(t *testing.T) {
	t.Chdir(t.TempDir())
	instances := map[string]bool{}
	for start := range 2 {
		s := open(t, everyKind)
		// At a restart within a tick, e has to wait for the next: it may not borrow.
		servertest.Eventually(t, "all are ready", func() bool { return len(s.Unready()) == 0 })
		for _, name := range []string{"a", "b", "c", "d", "e", "orders", "other", "order-1"} {
			draw(t, s, name, 10)
		}
		for name, kind := range map[string]string{"a": "cached", "b": "default", "c": "slots", "d": "default", "e": "cached", "orders": "segment", "other": "segment", "hidden": "segment", "order-1": "segment"} {
			e, err := s.Open(t.Context(), name)
			need.Must(t, err)
			if e.Name != name || e.Kind != kind || (e.Layout == nil) != (kind == "segment") || e.MaxIDs != map[bool]int{true: 7, false: 0}[name == "a"] || instances[e.Instance] {
				t.Errorf("%+v", e)
			}
			instances[e.Instance] = true
		}
		for name, worker := range map[string]int64{"c": 5, "d": 9} {
			if got := s.Stats()[name].Clock.Worker; got != worker {
				t.Errorf("%s has worker %d, want %d", name, got, worker)
			}
		}
		if got := s.Stats()["e"].Clock.Worker; got < 100 || got > 199 {
			t.Errorf("worker %d, want 100 to 199", got)
		}
		if all := s.Stats(); len(all) != 9 || all["order-1"].Loads.Tag != "order-1" || all["orders"].Issued != 10 {
			t.Errorf("the statistics are %+v", all)
		}
		for _, unknown := range []string{"tags", "hidden-1", "order-2", "x", "", "order-\x00"} {
			if e, err := s.Open(t.Context(), unknown); e != nil || !errors.Is(err, service.ErrUnknown) {
				t.Errorf("Get(%q) = %v, %v; want that there is none", unknown, e, err)
			}
		}
		first, _ := s.Open(t.Context(), "order-1")
		if again, err := s.Open(t.Context(), "order-1"); again != first || err != nil {
			t.Errorf("another entry of the same tag, %v", err)
		}
		if last := draw(t, s, "orders", 1)[0]; last != uid.ID(11*(start+1)) {
			t.Errorf("order %d after start %d, want that none was lost", last, start)
		}
		a, _ := s.Open(t.Context(), "a")
		end(t, s)
		_, err := a.Claim(t.Context(), 1)
		need.Error(t, err, uid.ErrClosed)
		if got := len(s.Unready()); got == 0 {
			t.Error("closed generators are ready")
		}
	}
}

// Entries of tags that were closed are kept, up to max_tags. A new one is a new instance.
func TestTagsAreForgotten(t *testing.T) {
	t.Chdir(t.TempDir())
	s := open(t, `
stores: [{name: file, url: ids.db}]
generators:
  - {name: tags, kind: tags, store: file, match: "*", max_tags: 1, idle: 1ms}
  - {name: a, kind: segment, store: file, create: true, tag: x-1}
  - {name: b, kind: segment, store: file, create: true, tag: x-2}
`)
	defer end(t, s)
	get := func(tag string) (e *service.Entry) {
		servertest.Eventually(t, tag+" is open", func() bool { // as soon as the other is closed as idle
			var err error
			if e, err = s.Open(t.Context(), tag); err != nil && !errors.Is(err, segment.ErrTooManyTags) {
				t.Fatal(err)
			}
			return err == nil
		})
		return e
	}
	first := get("x-1")
	if get("x-2"); get("x-1").Instance == first.Instance {
		t.Error("the entry of x-1 was kept beside that of x-2, with max_tags 1")
	}
}

// The config's keys reach the generators.
func TestKeys(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("POD_NAME", "ids-7")
	s := open(t, `
stores: [{name: file, url: ids.db}]
generators:
  - {name: ids, kind: cached, worker: statefulset, store: file, window: 40s, expiry: 3s,
     layout: 29/21/13, ids_per_s: 100, boost_power: 4, padding_factor: 25, max_borrow: 90s, max_age: 7s}
  - {name: orders, kind: segment, store: file, create: true, table: sequence, step: 500, min_step: 400, max_step: 700, limit: 1200}
`)
	defer end(t, s)
	got := s.Stats()["ids"]
	if got.Clock.Worker != 7 || got.Ring.Capacity != 8192<<4 || got.Ring.Threshold != got.Ring.Capacity/4 || got.Ring.MaxBorrow != 90*time.Second || got.Ring.MaxAge != 7*time.Second {
		t.Errorf("%+v", got)
	}
	if until := time.Until(got.Clock.ReservedUntil); until > time.Minute || until < 35*time.Second || got.Clock.Layout.TimeBits != 29 {
		t.Errorf("reserved are %v of layout %v, want the window of 40 s", until, got.Clock.Layout)
	}
	if e, err := s.Get("ids"); err != nil || e.Rate != 100 || e.Burst != 45*8192 {
		t.Errorf("%v, %v; want a rate of 100, and half of max_borrow at once", e, err)
	}
	if step := s.Stats()["orders"].Loads.LastSize; step != 500 {
		t.Errorf("step %d, want 500", step)
	}
	draw(t, s, "orders", 1200)
	e, _ := s.Open(t.Context(), "orders")
	_, err := e.Claim(t.Context(), 1)
	need.Error(t, err, segment.ErrUsedUp)
}

// broken has generators that cannot start, beside a.
const broken = `
stores: [{name: file, url: ids.db}, {name: unavailable, url: "redis://127.0.0.1:1"}]
generators:
  - {name: a, kind: cached, store: file}
  - {name: b, kind: slots, store: unavailable}
  - {name: c, kind: segment, store: unavailable}
  - {name: d, kind: segment, store: file}
  - {name: d-tags, kind: tags, store: unavailable, match: d-*}
  - {name: more, kind: tags, store: file, match: "*"}
`

// Generators that cannot start keep no other from starting. Their errors are shown, and
// a tag of theirs does not count in the store of another.
func TestStandAlone(t *testing.T) {
	t.Chdir(t.TempDir())
	tool := open(t, "stores: [{name: file, url: ids.db}]\ngenerators: [{name: d-1, kind: segment, store: file, create: true}]\n")
	s := open(t, broken)
	draw(t, s, "a", 1)
	unready := s.Unready()
	for name, want := range map[string]error{"b": syscall.ECONNREFUSED, "c": syscall.ECONNREFUSED, "d": segment.ErrUnknownTag, "d-1": syscall.ECONNREFUSED} {
		e, err := s.Open(t.Context(), name)
		if e != nil || !errors.Is(err, service.ErrNotStarted) || !errors.Is(err, want) {
			t.Errorf("Get(%q) = %v, %v; want that it has not started, and %v", name, e, err, want)
		}
		if name != "d-1" && !errors.Is(unready[name], want) {
			t.Errorf("%s is not ready: %v, want %v", name, unready[name], want)
		}
	}
	if unready["a"] != nil || unready["more"] != nil || unready["d-tags"] == nil {
		t.Errorf("not ready: %v", unready)
	}
	all := s.Stats()
	if b := all["b"].Clock; b.Worker != -1 || !errors.Is(b.LeaseError, syscall.ECONNREFUSED) || len(all) != 5 {
		t.Errorf("%d generators, b %+v", len(all), b)
	}
	if d := all["d"]; !errors.Is(d.LastError, segment.ErrUnknownTag) || !strings.Contains(d.LastError.Error(), "create it with uidringd segments create d") || all["d-tags"].LastError == nil {
		t.Errorf("d %+v of %+v", d, all)
	}
	for name, want := range map[string]int{"a": 0, "d": 3, "d-1": 4, "x": 5} {
		if i, n := s.Source(name); i != want || n != 6 {
			t.Errorf("%q is in source %d of %d, want %d of 6", name, i, n, want)
		}
	}
	end(t, tool)
	tool = open(t, "stores: [{name: file, url: ids.db}]\ngenerators: [{name: d, kind: segment, store: file, create: true}]\n")
	end(t, tool)
	servertest.Eventually(t, "d starts", func() bool { return s.Unready()["d"] == nil })
	draw(t, s, "d", 3)
	end(t, s)
}

// Two generators that start together on an empty store log once that they create the
// table.
func TestOneLineForATable(t *testing.T) {
	t.Chdir(t.TempDir())
	log := new(logged.Text)
	db, _, err := sqlitefile.Open("ids.db", url.Values{})
	need.Must(t, err)
	defer db.Close()
	tx, err := db.Begin() // both see that the table is missing before one makes it
	need.Must(t, err)
	time.AfterFunc(500*time.Millisecond, func() { tx.Rollback() })
	s, err := generators.Open(t.Context(), parse(t, `
stores: [{name: db, url: ids.db}]
generators:
  - {name: a, kind: cached, worker: lease, store: db}
  - {name: b, kind: cached, worker: lease, store: db}
`), log.Logger())
	need.Must(t, err)
	end(t, s)
	if n := strings.Count(log.String(), "creating the table"); n != 1 {
		t.Errorf("%d lines, want 1: %s", n, log)
	}
}

// The pods of a StatefulSet start on the empty tables that are printed, on each database. Then a generator that would draw
// a number is refused in the words of the config, and so is one with numbers where numbers are drawn.
func TestDrawnOrDivided(t *testing.T) {
	for _, kind := range dbtest.Kinds {
		t.Run(kind, func(t *testing.T) {
			start := func(settings string) error {
				t.Helper()
				s, err := generators.Open(t.Context(), parse(t, "stores: [{name: db, env: UIDRINGD_TEST_STORE}]\n"+
					"generators: [{name: ids, kind: default, store: db, "+settings+"}]"), silent)
				if err == nil {
					end(t, s)
				}
				return err
			}
			refused := func(settings string, want ...string) {
				t.Helper()
				err := start(settings)
				need.Error(t, err, nil, append(want, "row -1 of WORKER_NODE", "a store of its own")...)
				if strings.Contains(fmt.Sprint(err), "lease.Config") {
					t.Errorf("%s: %v, which has words of the library", settings, err)
				}
			}
			divided, user := clitest.User(t, kind)
			clitest.Client(t, divided, clitest.Of(clitest.SQL(schema.New)).Succeed(t, "schema", kind, "--user", user.User.Username()))
			t.Setenv("UIDRINGD_TEST_STORE", divided.String())
			for ordinal := range 3 {
				t.Setenv("POD_NAME", fmt.Sprint("ids-", ordinal))
				need.Must(t, start("worker: statefulset"))
			}
			need.Must(t, start("numbers: 10-19"))
			refused("worker: lease", "divided", "set numbers, or worker: statefulset or static:N")
			refused("worker: registry", "divided")
			drawn, _ := clitest.User(t, kind)
			t.Setenv("UIDRINGD_TEST_STORE", drawn.String())
			need.Must(t, start("worker: registry"))
			need.Must(t, start("worker: lease"))
			refused("numbers: 10-19", "drawn", "remove numbers, and set worker: lease")
			refused("worker: statefulset", "drawn")
		})
	}
}

// In a new store, the layout does not depend on which generator starts first.
func TestLayoutOfNewStore(t *testing.T) {
	t.Chdir(t.TempDir())
	for i, want := range []struct {
		generators []string
		layout     bits.Layout
	}{
		{[]string{"worker: registry", "worker: lease"}, bits.Fleet()},
		{[]string{"worker: registry", "worker: registry"}, bits.Registry()},
	} {
		for round := range 5 {
			text := fmt.Sprintf("stores: [{name: file, url: %d-%d.db}]\ngenerators:\n", i, round)
			for j, settings := range want.generators {
				text += fmt.Sprintf("- {name: g%d, kind: default, store: file, %s}\n", j, settings)
			}
			s := open(t, text)
			for j := range want.generators {
				if e, err := s.Get(fmt.Sprint("g", j)); err != nil || e.Layout.String() != want.layout.String() {
					t.Errorf("%v: %+v, %v; want %s", want.generators, e, err, want.layout)
				}
			}
			end(t, s)
		}
	}
}

// A generator without a layout has the one that its store remembers, for its limits and for parse too.
func TestLayoutOfTheStore(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, g := range []struct {
		layout string
		rate   float64
	}{{"", 32768}, {", layout: 31/20/12", 2048}} {
		file := fmt.Sprintf("%v.db", g.rate)
		for _, text := range []string{g.layout, ""} {
			s := open(t, "stores: [{name: file, url: "+file+"}]\ngenerators: [{name: a, kind: default, store: file"+text+"}]\n")
			e, err := s.Get("a")
			if err != nil || e.Rate != g.rate || math.Ldexp(1, int(e.Layout.SequenceBits)) != 2*g.rate {
				t.Errorf("%q after %q: rate %v of %v, %v; want %v", text, g.layout, e.Rate, e.Layout, err, g.rate)
			}
			end(t, s)
		}
	}
}
