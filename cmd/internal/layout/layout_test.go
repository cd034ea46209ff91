package layout_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/gen"
	"github.com/uidring/uidring/cmd/internal/layout"
	"github.com/uidring/uidring/internal/test/need"
)

var uidring = clitest.Of(clitest.SQL(layout.New), clitest.SQL(gen.New))

func TestLayout(t *testing.T) {
	for args, want := range map[string]string{
		"41/datacenter:5+4/12,unit=1ms": `
layout         41/datacenter:5+4/12,epoch=2026-01-01,unit=1ms
bits           62 of 63
workers        0 to 511
               datacenter: 0 to 31
               part2: 0 to 15
ids            4096000 a second for each worker: 4096 in each tick of 1ms
burst          353894400000 ids at once, stamped up to 24h0m0s ahead of the clock (MaxBorrow)
in JavaScript  as a string
begins         2026-01-01T00:00:00Z
ends           2095-09-07T15:47:35.552Z
next           41/datacenter:5+4/12 with a later epoch, under worker numbers never used before;
               for another layout, see --next and layout change
`,
		"baidu --next registry --from 2026-01-01 --used 5000": `
layout         28/22/13,epoch=2016-05-20,unit=1s
bits           63 of 63
workers        0 to 4194303
ids            8192 a second for each worker: 8192 in each tick of 1s
burst          707788800 ids at once, stamped up to 24h0m0s ahead of the clock (MaxBorrow)
in JavaScript  as a string
begins         2016-05-20T00:00:00Z
ended          2024-11-20T21:24:16Z

next     28/22/13,epoch=2026-01-01,unit=1s from 2026-01-01T00:00:00Z on
equal    new ids stamped from 2026-01-01T00:00:00Z to 2034-07-04T21:24:16Z can equal old ones
numbers  5001 to 4194303 keep new ids apart from those under the numbers 0 to 5000
`,
	} {
		if got := uidring.Succeed(t, append([]string{"layout"}, strings.Fields(args)...)...); got != want[1:] {
			t.Errorf("layout %s:\n%swant\n%s", args, got, want[1:])
		}
	}
	for args, want := range map[string]string{
		"js-safe --next registry --from 2027-01-01":                         "never: every new id is greater than every old one",
		"registry --next js-safe --since 2027-01-01 --from 2028-01-01":      "never, but new ids are smaller than old ones",
		"registry --next long-lived --from 2027-01-01":                      "none keeps new ids apart from those under the numbers 0 to 4194303",
		"baidu --next registry --from 2026-01-01 --since 2020-05-20":        "from 2030-01-01T00:00:00Z to 2034-07-04T21:24:16Z can equal",
		"registry --next 28/22/13 --from 2027-01-01T00:00:00.5Z --used 500": "501 to 4194303 keep new ids apart",
	} {
		if got := uidring.Succeed(t, append([]string{"layout"}, strings.Fields(args)...)...); !strings.Contains(got, want) {
			t.Errorf("layout %s:\n%swant %q in it", args, got, want)
		}
	}
}

// TestSQLText is for whoever reads it: the comment, and what a table's time is.
func TestSQLText(t *testing.T) {
	for kind, want := range map[string]string{
		"postgres": "\nCASE WHEN id BETWEEN 0 AND 9007199254740991 THEN ((id >> 10) & 4095) END\n",
		"mysql":    "\nCASE WHEN id BETWEEN 0 AND 9007199254740991 THEN ((id >> 10) & 4095) END\n",
		"sqlite":   "\nCASE WHEN id BETWEEN 0 AND 9007199254740991 THEN 1767225600000 + (id >> 22) * 1000 END\n",
	} {
		got := uidring.Succeed(t, "layout", "js-safe", "--sql", kind)
		for _, want := range []string{want, "-- Ids of the layout 31/12/10,epoch=2026-01-01,unit=1s in ", "2094-01-19T03:14:08Z", " WHERE id BETWEEN "} {
			if !strings.Contains(got, want) {
				t.Errorf("--sql %s:\n%swant %q in it", kind, got, want)
			}
		}
	}
}

func TestLayoutList(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(uidring.Succeed(t, "layout")), "\n")
	objects := strings.Split(strings.TrimSpace(uidring.Succeed(t, "layout", "--json")), "\n")
	if len(lines) != len(bits.PresetNames())+1 || len(objects) != len(bits.PresetNames()) {
		t.Fatalf("%d lines and %d objects for %d names", len(lines), len(objects), len(bits.PresetNames()))
	}
	for i, name := range bits.PresetNames() {
		var object struct {
			Name   string
			Layout bits.Layout
		}
		need.Must(t, json.Unmarshal([]byte(objects[i]), &object))
		if fields := strings.Fields(lines[i+1]); object.Name != name || fields[0] != name || fields[1] != object.Layout.String() {
			t.Errorf("%s: line %q, object %s", name, lines[i+1], objects[i])
		}
	}
}

func TestLayoutJSON(t *testing.T) {
	got := uidring.Succeed(t, "layout", "41/datacenter:5+machine:5/12,unit=1ms", "--json",
		"--next", "41/10/12,epoch=2030-01-01,unit=1ms", "--from", "2030-01-01", "--used", "500")
	want := `{"layout":"41/datacenter:5+machine:5/12,epoch=2026-01-01,unit=1ms","bits":63,"epoch":"2026-01-01T00:00:00Z","unit":"1ms",` +
		`"ids_per_tick":4096,"ids_per_second":4096000,"burst":353894400000,"exact_in_javascript":false,"greatest_worker":1023,"worker_parts":[{"name":"datacenter","bits":5},{"name":"machine","bits":5}],` +
		`"end":"2095-09-07T15:47:35.552Z","succession":{"next":"41/10/12,epoch=2030-01-01,unit=1ms","from":"2030-01-01T00:00:00Z",` +
		`"used":500,"ordered":false,"meet":{"from":"2030-01-01T00:00:00Z","until":"2034-01-01T00:00:00Z"},` +
		`"fresh_numbers":{"first":501,"last":1023}}}` + "\n"
	if got != want {
		t.Errorf("%swant\n%s", got, want)
	}
}

// sqlLayouts have every kind of epoch, unit and width: epochs before 1970 and within a
// second, ticks of one step and of many, and an end close to the year 10000.
var sqlLayouts = []string{
	"registry", "long-lived", "js-safe", "snowflake", "baidu,epoch=2016-05-20T00:00:00+08:00",
	"40/10/10,epoch=1969-12-31T23:59:59.123Z,unit=1ms", "1/62/0", "1/0/62,epoch=2026-01-01T00:00:00.009Z,unit=1ms",
	"30/region:5+3+rack:2/13,epoch=2026-01-01T12:00:00.25Z,unit=5ms", "46/6/7,epoch=1600-01-01T00:00:00.25Z,unit=1ms",
	"21/20/20,epoch=1000-02-28,unit=24h",
}

// fineLayouts are for databases that count microseconds.
var fineLayouts = []string{"57/0/6,epoch=2026-01-01T00:00:00.000009Z,unit=1us", "40/10/10,epoch=1969-07-20T20:17:40.123456Z,unit=500us"}

// Layouts that a database cannot count are refused.
func TestSQLRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"registry,unit=500us --sql sqlite":                           "multiples of that",
		"registry,unit=100ns --sql mysql":                            "--sql mysql counts time in 1µs",
		"registry,epoch=2026-01-01T00:00:00.0000001Z --sql postgres": "multiples of that",
		"45/10/8 --sql postgres":                                     "before the year 10000",
	} {
		if got := uidring.Invoke(t, "", append([]string{"layout"}, strings.Fields(args)...)...); got.Code != 2 || !strings.Contains(got.Stderr, want) {
			t.Errorf("layout %s: %+v, want %q", args, got, want)
		}
	}
}

// samples is how many ids and instants are compared on each database, over all layouts.
const samples = 100_000

// sample is an id and an instant.
type sample struct {
	id int64
	at time.Time
}

// engine is a database under test.
type engine struct {
	kind    string
	dsn     func(t *testing.T) string
	step    time.Duration // of its instants
	layouts []string
	literal func(time.Time) string
	column  string // type of instants
	setUp   string // a time zone that is not UTC
	steps   string // {}, a time, in steps since 1970
}

var engines = []engine{
	{"postgres", func(t *testing.T) string { return clitest.Server(t, "UIDRING_TEST_POSTGRES").String() }, time.Microsecond, fineLayouts,
		func(t time.Time) string { return t.UTC().Format("'2006-01-02 15:04:05.000000+00'") },
		"timestamptz", "SET TimeZone = 'America/New_York'", "trunc(extract(epoch FROM {}) * 1000000)"},
	{"mysql", func(t *testing.T) string { return clitest.Server(t, "UIDRING_TEST_MYSQL").String() }, time.Microsecond, fineLayouts,
		func(t time.Time) string { return t.UTC().Format("'2006-01-02 15:04:05.000000'") },
		"DATETIME(6)", "SET time_zone = '+05:30'", "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {})"},
	{"sqlite", func(t *testing.T) string { return t.TempDir() + "/ids.db" }, time.Millisecond, nil,
		func(t time.Time) string { return fmt.Sprint(t.UnixMilli()) },
		"INTEGER", "SELECT 1", "{}"},
}

// The instants that every database holds.
var (
	earliest = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(9999, 12, 31, 23, 59, 59, 999000000, time.UTC)
)

// TestSQL compares what --sql prints with package bits, in each database.
func TestSQL(t *testing.T) {
	for _, e := range engines {
		t.Run(e.kind, func(t *testing.T) {
			pool, err := clitest.Open(t, e.dsn(t)).DB.DB()
			need.Must(t, err)
			conn, err := pool.Conn(t.Context())
			need.Must(t, err)
			t.Cleanup(func() { conn.Close() })
			for _, layout := range slices.Concat(sqlLayouts, e.layouts) {
				t.Run(layout, func(t *testing.T) { e.compare(t, conn, layout) })
			}
		})
	}
}

func (e engine) compare(t *testing.T, conn *sql.Conn, layout string) {
	printed := uidring.Succeed(t, "layout", layout, "--sql", e.kind)
	ids := clitest.Allocator(t, layout)
	seed := mathrand.Uint64()
	rng := mathrand.New(mathrand.NewPCG(seed, 0))
	all := make([]sample, samples/len(sqlLayouts))
	for i := range all {
		all[i] = e.draw(rng, ids, i)
	}
	for i, got := range e.ask(t, conn, printed, all) {
		if want := e.want(ids, all[i]); !slices.Equal(got, want) {
			t.Fatalf("seed %d, id %d, instant %s:\n%v, want\n%v\n%s", seed, all[i].id, e.literal(all[i].at), got, want, printed)
		}
	}
}

// draw returns the ends of the layout first, and then any id and instant, many at the
// edges of fields and of ticks.
func (e engine) draw(rng *mathrand.Rand, ids *bits.Allocator, i int) sample {
	pick := func(greatest int64) int64 { // an end, or something close to one, or any
		switch rng.IntN(4) {
		case 0:
			return min(greatest, rng.Int64N(3))
		case 1:
			return max(0, greatest-rng.Int64N(3))
		case 2: // any number of bits
			return min(greatest, rng.Int64()>>rng.IntN(63))
		}
		return rng.Int64() & greatest // which has all bits set
	}
	id, err := ids.Compose(pick(ids.MaxTick()), pick(ids.MaxWorker()), pick(ids.MaxSequence()))
	if err != nil {
		panic(err)
	}
	if rng.IntN(20) == 0 { // mostly not of this layout
		id = []int64{-1, -1 << 63, 1<<63 - 1, -rng.Int64(), rng.Int64()}[rng.IntN(5)]
	}
	layout := ids.Layout()
	near := []time.Time{layout.Epoch, layout.End(), earliest, latest, ids.Time(pick(ids.MaxTick()))}[rng.IntN(5)]
	near = near.Add(time.Duration(rng.Int64N(7)-3) * []time.Duration{0, e.step, layout.Unit}[rng.IntN(3)])
	ends := []sample{
		{0, layout.Epoch}, {1<<layout.Bits() - 1, layout.End()}, {-1, layout.Epoch.Add(-e.step)}, {0, layout.End().Add(-e.step)},
		{1 << layout.Bits(), latest}, // negative if the layout has 63 bits
	}
	if i < len(ends) {
		id, near = ends[i].id, ends[i].at
	}
	if near.Before(earliest) {
		near = earliest
	}
	if near.After(latest) {
		near = latest
	}
	return sample{id, near.Truncate(e.step).UTC()}
}

// want returns what the columns of a sample have to be: time in steps since 1970, its
// text in SQLite, worker and its parts, sequence, the reversed id, least id and greatest id.
func (e engine) want(ids *bits.Allocator, s sample) (w row) {
	parts, err := ids.Parse(s.id)
	ofID := func(value any) {
		if err != nil {
			value = "NULL"
		}
		w = append(w, fmt.Sprint(value))
	}
	ofID(parts.Time.Unix()*int64(time.Second/e.step) + int64(parts.Time.Nanosecond())/int64(e.step))
	if e.kind == "sqlite" {
		ofID(parts.Time.Format("2006-01-02 15:04:05.000"))
	}
	ofID(parts.Worker)
	if ids.Layout().WorkerParts != "" {
		named, _ := ids.SplitWorker(parts.Worker) // zero of what is no id
		for _, p := range named {
			ofID(p.Value)
		}
	}
	ofID(parts.Sequence)
	if err = nil; s.id < 0 {
		err = bits.ErrForeign
	}
	ofID(bits.Reverse(s.id))
	first, err := ids.FirstID(s.at)
	last, _ := ids.LastID(s.at) // of the same tick
	ofID(first)
	ofID(last)
	return w
}

// row are the columns of a sample; an absent one is "NULL".
type row []string

// ask returns the columns of all samples, from the printed SQL.
func (e engine) ask(t *testing.T, conn *sql.Conn, printed string, all []sample) (rows []row) {
	table := "uidring_test_" + strings.ToLower(rand.Text()[:12])
	exec := func(query string) {
		t.Helper()
		// In the end, too, when t's context is over.
		if _, err := conn.ExecContext(context.WithoutCancel(t.Context()), query); err != nil {
			t.Fatalf("%.2000s: %v", query, err)
		}
	}
	expressions := strings.Split(strings.TrimSuffix(code(printed), "\n"), "\n")
	null := func(which int, instant string) {
		t.Helper()
		var found int
		query := "SELECT count(" + strings.ReplaceAll(expressions[len(expressions)-which], ":t", instant) + ")"
		if err := conn.QueryRowContext(t.Context(), query).Scan(&found); err != nil || found != 0 {
			t.Errorf("an id of %s is not NULL, %v", instant, err)
		}
	}
	exec(e.setUp)
	exec(fmt.Sprintf("CREATE TABLE %s (n INTEGER PRIMARY KEY, id BIGINT, t %s)", table, e.column))
	defer exec("DROP TABLE " + table)
	switch e.kind {
	case "postgres":
		null(2, "timestamptz 'infinity'")
		null(1, "timestamptz '-infinity'")
	case "sqlite":
		null(2, fmt.Sprintf("%d.0", all[0].at.UnixMilli())) // with which division does not round down
	}
	expressions[0] = strings.ReplaceAll(e.steps, "{}", expressions[0])
	columns := strings.ReplaceAll(strings.Join(expressions, ", "), ":t", "t")
	for begin := 0; begin < len(all); begin += 1000 {
		var values []string
		for i, s := range all[begin:min(begin+1000, len(all))] {
			values = append(values, fmt.Sprintf("(%d, %d, %s)", begin+i, s.id, e.literal(s.at)))
		}
		exec("INSERT INTO " + table + " VALUES " + strings.Join(values, ", "))
	}
	found, err := conn.QueryContext(t.Context(), "SELECT "+columns+" FROM "+table+" ORDER BY n")
	if err != nil {
		t.Fatalf("%v\n%s", err, columns)
	}
	defer found.Close()
	for found.Next() {
		texts, to := make([]sql.NullString, len(expressions)), make([]any, len(expressions))
		for i := range texts {
			to[i] = &texts[i]
		}
		need.Must(t, found.Scan(to...))
		r := make(row, len(texts))
		for i, text := range texts {
			if r[i] = "NULL"; text.Valid {
				r[i] = text.String
			}
		}
		rows = append(rows, r)
	}
	if err := found.Err(); err != nil || len(rows) != len(all) {
		t.Fatalf("%d rows, %v, want %d", len(rows), err, len(all))
	}
	if e.kind == "mysql" { // a warning of a SELECT is an error of an INSERT
		var warnings int
		if err := conn.QueryRowContext(t.Context(), "SELECT @@warning_count").Scan(&warnings); err != nil || warnings > 0 {
			t.Errorf("%d warnings, %v", warnings, err)
		}
	}
	return rows
}

// code returns SQL without its comments and empty lines.
func code(printed string) string {
	var b strings.Builder
	for line := range strings.Lines(printed) {
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "--") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// Without LAYOUT, the layout is that of the database that is named or found, and else of a new store.
func TestLayoutOfDatabase(t *testing.T) {
	clitest.Elsewhere(t)
	if got := uidring.Succeed(t, "layout", "--sql", "sqlite"); !strings.Contains(got, "Ids of the layout 31/16/16,") {
		t.Errorf("without a database:\n%s", got)
	}
	uidring.Succeed(t, "gen", "--layout", "31/20/12", "--dsn", "app.db")
	if got := uidring.Succeed(t, "layout", "--dsn", "app.db", "--json"); !strings.Contains(got, `"layout":"31/20/12,`) {
		t.Errorf("--dsn: %s", got)
	}
	uidring.Succeed(t, "gen", "--layout", "29/21/13")
	if got := uidring.Succeed(t, "layout", "--sql", "sqlite"); !strings.Contains(got, "Ids of the layout 29/21/13,") {
		t.Errorf("uidring.db:\n%s", got)
	}
	if got := uidring.Succeed(t, "layout", "--next", "fleet"); !strings.HasPrefix(got, "layout         29/21/13,") {
		t.Errorf("--next: %s", got)
	}
	if got := uidring.Invoke(t, "", "layout", "--dsn", "missing.db"); got.Code != 1 || !strings.Contains(got.Stderr, "there is no such file") || got.Stdout != "" {
		t.Errorf("a missing file: %+v", got)
	}
}
