package layout

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/uidring/uidring/bits"
)

const (
	micros = "2006-01-02 15:04:05.000000"

	functions = `  uid_time(id)      when the tick of the id begins, rounded down to a microsecond
  uid_worker(id)    the worker number
  uid_sequence(id)  the place within the tick
  uid_first_id(t)   the least id of the tick that the instant t lies in
  uid_last_id(t)    the greatest id of that tick
`
	example = `All ids of a period, by an index on the column id:

  SELECT * FROM orders WHERE id BETWEEN uid_first_id(%s) AND uid_last_id(%s);
`
)

// postgres returns functions for PostgreSQL. Intervals of hours and microseconds are exact:
// their product with an integer has at most 53 significant bits.
func postgres(ids *bits.Allocator) (string, error) {
	last := time.UnixMicro(math.MaxInt64).UTC() // later ones, up to the year 294276, extract rounds
	g, err := newGrid(ids, time.Microsecond, last, "/", "%")
	if err != nil {
		return "", err
	}
	at := func(t time.Time) string { return "timestamptz '" + t.Format(micros) + "+00'" }
	const hour = int64(time.Hour / time.Microsecond)
	// A timestamp, not a timestamptz: its sum is immutable, so PostgreSQL can inline the function.
	begins := fmt.Sprintf("(timestamp '%s' + interval '1 hour' * (%s / %d) + interval '1 microsecond' * (%s %% %d)) AT TIME ZONE 'UTC'",
		g.floor.Format(micros), g.elapsed(), hour, g.elapsed(), hour)
	epoch := g.ceil.Unix()*g.perSecond() + int64(g.ceil.Nanosecond())/int64(g.step)
	tick := g.tickOf(fmt.Sprintf("(extract(epoch FROM t) * 1000000 - %s)::bigint", signed(epoch)))
	within := func(expression string) string {
		return fmt.Sprintf("CASE WHEN t BETWEEN %s AND %s THEN %s END", at(g.ceil), at(g.lastInstant()), expression)
	}
	var b strings.Builder
	b.WriteString(header(ids.Layout(), "PostgreSQL 14 or later", functions,
		"The database\nrounds t, a timestamptz, to a microsecond.", fmt.Sprintf(example, "$1", "$2")))
	for _, f := range []struct{ name, parameter, result, body, comment string }{
		{"uid_time", "id bigint", "timestamptz", ofIDs(g.lastTimed(last), begins), "When the tick of the id begins"},
		{"uid_worker", "id bigint", "bigint", ofIDs(g.lastID(), g.worker()), "The worker number of the id"},
		{"uid_sequence", "id bigint", "bigint", ofIDs(g.lastID(), g.sequence()), "The place of the id within its tick"},
		{"uid_first_id", "t timestamptz", "bigint", within(g.firstID(tick)), "The least id of the tick that t lies in"},
		{"uid_last_id", "t timestamptz", "bigint", within(g.lastIDOf(tick)), "The greatest id of the tick that t lies in"},
	} {
		_, kind, _ := strings.Cut(f.parameter, " ")
		fmt.Fprintf(&b, "\nCREATE FUNCTION %s(%s) RETURNS %s\nLANGUAGE sql IMMUTABLE PARALLEL SAFE\nRETURN %s;\n", f.name, f.parameter, f.result, f.body)
		fmt.Fprintf(&b, "COMMENT ON FUNCTION %s(%s) IS '%s; layout %s';\n", f.name, kind, f.comment, ids.Layout())
	}
	return b.String(), nil
}

// mysql returns functions for MySQL and MariaDB.
func mysql(ids *bits.Allocator) (string, error) {
	last := time.Date(9999, time.December, 31, 23, 59, 59, 999999000, time.UTC)
	g, err := newGrid(ids, time.Microsecond, last, "DIV", "MOD")
	if err != nil {
		return "", err
	}
	at := func(t time.Time) string { return "TIMESTAMP'" + t.Format(micros) + "'" }
	begins := fmt.Sprintf("TIMESTAMPADD(MICROSECOND, %s, %s)", g.elapsed(), at(g.floor))
	tick := g.tickOf(fmt.Sprintf("TIMESTAMPDIFF(MICROSECOND, %s, t)", at(g.ceil)))
	within := func(expression string) string {
		if g.lastInstant().Before(g.ceil) {
			return "NULL" // no instant of the database lies in the layout
		}
		return fmt.Sprintf("CASE WHEN t BETWEEN %s AND %s THEN %s END", at(g.ceil), at(g.lastInstant()), expression)
	}
	var b strings.Builder
	b.WriteString(header(ids.Layout(), "MySQL and MariaDB", functions,
		"A DATETIME\nis in UTC: compare with UTC_TIMESTAMP(6), not NOW(6). The database rounds t to a\nmicrosecond.", fmt.Sprintf(example, "?", "?")))
	for _, f := range []struct{ name, parameter, result, body, comment string }{
		{"uid_time", "id BIGINT", "DATETIME(6)", ofIDs(g.lastTimed(last), begins), "When the tick of the id begins, in UTC"},
		{"uid_worker", "id BIGINT", "BIGINT", ofIDs(g.lastID(), g.worker()), "The worker number of the id"},
		{"uid_sequence", "id BIGINT", "BIGINT", ofIDs(g.lastID(), g.sequence()), "The place of the id within its tick"},
		{"uid_first_id", "t DATETIME(6)", "BIGINT", within(g.firstID(tick)), "The least id of the tick that t, in UTC, lies in"},
		{"uid_last_id", "t DATETIME(6)", "BIGINT", within(g.lastIDOf(tick)), "The greatest id of the tick that t, in UTC, lies in"},
	} {
		fmt.Fprintf(&b, "\nCREATE FUNCTION %s(%s) RETURNS %s\nDETERMINISTIC NO SQL SQL SECURITY INVOKER\nCOMMENT '%s; layout %s'\nRETURN %s;\n",
			f.name, f.parameter, f.result, f.comment, ids.Layout(), f.body)
	}
	return b.String(), nil
}

// sqlite returns expressions for SQLite. Its functions of time round, and go through
// floating point, so instants are integers of milliseconds.
func sqlite(ids *bits.Allocator) (string, error) {
	last := time.UnixMilli(math.MaxInt64)
	g, err := newGrid(ids, time.Millisecond, last, "/", "%")
	if err != nil {
		return "", err
	}
	tick := g.tickOf(fmt.Sprintf("(:ms - %s)", signed(g.ceil.UnixMilli())))
	within := func(expression string) string {
		return fmt.Sprintf("CASE WHEN typeof(:ms) = 'integer' AND :ms BETWEEN %d AND %d THEN %s END",
			g.ceil.UnixMilli(), g.lastInstant().UnixMilli(), expression)
	}
	// Text from whole seconds, which SQLite takes exactly.
	elapsed := g.elapsed()
	if rest := g.floor.Nanosecond() / int(time.Millisecond); rest > 0 {
		elapsed = fmt.Sprintf("(%s + %d)", elapsed, rest)
	}
	text := fmt.Sprintf("datetime(%s / 1000 + %s, 'unixepoch') || printf('.%%03d', %s %% 1000)", elapsed, signed(g.floor.Unix()), elapsed)
	year9999 := time.Date(9999, time.December, 31, 23, 59, 59, 999000000, time.UTC)

	var b strings.Builder
	b.WriteString(header(ids.Layout(), "SQLite", `In these expressions, id is a column and :ms a parameter: an instant in milliseconds
since 1970, as an integer. unixepoch('2026-03-01') * 1000 is one.
`, "Text is\nalso NULL after the year 9999.", `All ids of a period, by an index on the column id:

  SELECT * FROM orders WHERE id BETWEEN (least id) AND (greatest id);
`))
	for _, e := range []struct{ comment, body string }{
		{"when the tick of the id begins, in milliseconds since 1970, rounded down", ofIDs(g.lastTimed(last), fmt.Sprintf("%d + %s", g.floor.UnixMilli(), g.elapsed()))},
		{"the same as text in UTC, such as 2026-03-01 12:00:00.000", ofIDs(g.lastTimed(year9999), text)},
		{"the worker number", ofIDs(g.lastID(), g.worker())},
		{"the place within the tick", ofIDs(g.lastID(), g.sequence())},
		{"the least id of the tick that :ms lies in", within(g.firstID(tick))},
		{"the greatest id of that tick", within(g.lastIDOf(tick))},
	} {
		fmt.Fprintf(&b, "\n-- %s\n%s\n", e.comment, e.body)
	}
	return b.String(), nil
}

// signed returns a number that may stand behind an operator.
func signed(n int64) string {
	if n < 0 {
		return fmt.Sprintf("(%d)", n)
	}
	return fmt.Sprint(n)
}
