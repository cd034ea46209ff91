package layout_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/format"
	"github.com/uidring/uidring/internal/test/need"
)

// fineLayouts are for databases that count microseconds.
var fineLayouts = []string{"57/0/6,epoch=2026-01-01T00:00:00.000009Z,unit=1us", "40/10/10,epoch=1969-07-20T20:17:40.123456Z,unit=500us"}

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
	step    time.Duration // of its instants
	layouts []string
	literal func(time.Time) string
	column  string // type of instants
	setUp   string // a time zone that is not UTC
	steps   string // {}, a time, in steps since 1970
}

var engines = []engine{
	{"postgres", time.Microsecond, fineLayouts,
		func(t time.Time) string { return t.UTC().Format("'2006-01-02 15:04:05.000000+00'") },
		"timestamptz", "SET TimeZone = 'America/New_York'", "trunc(extract(epoch FROM {}) * 1000000)"},
	{"mysql", time.Microsecond, fineLayouts,
		func(t time.Time) string { return t.UTC().Format("'2006-01-02 15:04:05.000000'") },
		"DATETIME(6)", "SET time_zone = '+05:30'", "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {})"},
	{"sqlite", time.Millisecond, nil,
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
			owner, _ := clitest.User(t, e.kind)
			pool, err := clitest.Open(t, owner.String()).DB.DB()
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
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
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
func (e engine) draw(rng *rand.Rand, ids *bits.Allocator, i int) sample {
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
func (e engine) want(ids *bits.Allocator, s sample) (w []string) {
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
	for _, p := range format.PartsOf(ids, parts.Worker) { // zero for what is not an id
		ofID(p.Value)
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

// ask returns the columns of all samples, from the printed SQL. An absent one is "NULL".
func (e engine) ask(t *testing.T, conn *sql.Conn, printed string, all []sample) (rows [][]string) {
	exec := func(query string) {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), query); err != nil {
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
	exec("CREATE TABLE samples (n INTEGER PRIMARY KEY, id BIGINT, t " + e.column + ")")
	defer exec("DROP TABLE samples")
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
		exec("INSERT INTO samples VALUES " + strings.Join(values, ", "))
	}
	found, err := conn.QueryContext(t.Context(), "SELECT "+columns+" FROM samples ORDER BY n")
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
		r := make([]string, len(texts))
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

// Once the layout has changed, the expressions of each layout are NULL for ids of the other.
func TestSQLOfChangedLayout(t *testing.T) {
	for _, e := range engines {
		t.Run(e.kind, func(t *testing.T) {
			owner, _ := clitest.User(t, e.kind)
			dsn := owner.String()
			pool, err := clitest.Open(t, dsn).DB.DB()
			need.Must(t, err)
			run := func(args string) string { return uidring.Succeed(t, append(strings.Fields(args), "--dsn", dsn)...) }
			ids := []string{strings.TrimSpace(run("gen --layout long-lived"))}
			run("layout change --to fleet")
			ids = append(ids, strings.TrimSpace(run("gen")))
			expressions := strings.Split(strings.TrimSuffix(code(run("layout --sql "+e.kind)), "\n"), "\n")
			half := len(expressions) / 2
			for i, id := range ids {
				for j := range half - 3 { // the last three are of any id, or of an instant
					var values [2]sql.NullString
					for k := range values {
						need.Must(t, pool.QueryRow("SELECT "+expressions[half*k+j]+" FROM (SELECT CAST("+id+" AS "+map[string]string{"mysql": "SIGNED", "postgres": "BIGINT", "sqlite": "INTEGER"}[e.kind]+") AS id) ids").Scan(&values[k]))
					}
					if values[0].Valid != (i == 1) || values[1].Valid != (i == 0) {
						t.Errorf("expression %d of %s: %v, want one value, of the present layout %t", j, id, values, i == 1)
					}
				}
			}
		})
	}
}
