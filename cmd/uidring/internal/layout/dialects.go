package layout

import (
	"fmt"
	"math"
	"time"

	"github.com/uidring/uidring/bits"
)

const micros = "2006-01-02 15:04:05.000000"

// postgres returns the expressions of PostgreSQL. Intervals of hours and microseconds are
// exact: their product with an integer has at most 53 significant bits.
func postgres(ids *bits.Allocator) (about string, list []expression, err error) {
	last := time.UnixMicro(math.MaxInt64).UTC() // later ones, up to the year 294276, extract rounds
	g, err := newGrid(ids, time.Microsecond, last, "/", "%")
	if err != nil {
		return "", nil, err
	}
	at := func(t time.Time) string { return "timestamptz '" + t.Format(micros) + "+00'" }
	const hour = int64(time.Hour / time.Microsecond)
	begins := fmt.Sprintf("(timestamp '%s' + interval '1 hour' * (%s / %d) + interval '1 microsecond' * (%s %% %d)) AT TIME ZONE 'UTC'",
		g.floor.Format(micros), g.elapsed(), hour, g.elapsed(), hour)
	epoch := g.ceil.Unix()*g.perSecond() + int64(g.ceil.Nanosecond())/int64(g.step)
	tick := g.tickOf(fmt.Sprintf("(extract(epoch FROM :t) * 1000000 - %s)::bigint", signed(epoch)))
	list = append([]expression{{"when the tick of the id begins, rounded down to a microsecond", ofIDs(g.lastTimed(last), begins)}}, g.fields()...)
	return "PostgreSQL 14 or later. :t stands for an instant, a timestamptz.",
		append(list, g.period(fmt.Sprintf(":t BETWEEN %s AND %s", at(g.ceil), at(g.lastInstant())), tick)...), nil
}

// mysql returns the expressions of MySQL and MariaDB.
func mysql(ids *bits.Allocator) (about string, list []expression, err error) {
	last := time.Date(9999, time.December, 31, 23, 59, 59, 999999000, time.UTC)
	g, err := newGrid(ids, time.Microsecond, last, "DIV", "MOD")
	if err != nil {
		return "", nil, err
	}
	at := func(t time.Time) string { return "TIMESTAMP'" + t.Format(micros) + "'" }
	begins := fmt.Sprintf("TIMESTAMPADD(MICROSECOND, %s, %s)", g.elapsed(), at(g.floor))
	tick := g.tickOf(fmt.Sprintf("TIMESTAMPDIFF(MICROSECOND, %s, :t)", at(g.ceil)))
	list = append([]expression{{"when the tick of the id begins, in UTC, rounded down to a microsecond", ofIDs(g.lastTimed(last), begins)}}, g.fields()...)
	return "MySQL and MariaDB. :t stands for an instant\nin UTC, a DATETIME(6): UTC_TIMESTAMP(6), not NOW(6).",
		append(list, g.period(fmt.Sprintf(":t BETWEEN %s AND %s", at(g.ceil), at(g.lastInstant())), tick)...), nil
}

// sqlite returns the expressions of SQLite. Its functions of time round, and go through
// floating point, so instants are integers of milliseconds.
func sqlite(ids *bits.Allocator) (about string, list []expression, err error) {
	last := time.UnixMilli(math.MaxInt64)
	g, err := newGrid(ids, time.Millisecond, last, "/", "%")
	if err != nil {
		return "", nil, err
	}
	tick := g.tickOf(fmt.Sprintf("(:t - %s)", signed(g.ceil.UnixMilli())))
	in := fmt.Sprintf("typeof(:t) = 'integer' AND :t BETWEEN %d AND %d", g.ceil.UnixMilli(), g.lastInstant().UnixMilli())
	// Text from whole seconds, which SQLite takes exactly.
	elapsed := g.elapsed()
	if rest := g.floor.Nanosecond() / int(time.Millisecond); rest > 0 {
		elapsed = fmt.Sprintf("(%s + %d)", elapsed, rest)
	}
	text := fmt.Sprintf("datetime(%s / 1000 + %s, 'unixepoch') || printf('.%%03d', %s %% 1000)", elapsed, signed(g.floor.Unix()), elapsed)
	year9999 := time.Date(9999, time.December, 31, 23, 59, 59, 999000000, time.UTC)
	list = append([]expression{
		{"when the tick of the id begins, in milliseconds since 1970, rounded down", ofIDs(g.lastTimed(last), fmt.Sprintf("%d + %s", g.floor.UnixMilli(), g.elapsed()))},
		{"the same as text in UTC, such as 2026-03-01 12:00:00.000, to the year 9999", ofIDs(g.lastTimed(year9999), text)},
	}, g.fields()...)
	return "SQLite. :t stands for an instant in\nmilliseconds since 1970, an integer, such as unixepoch('2026-03-01') * 1000.", append(list, g.period(in, tick)...), nil
}

// signed returns a number that may stand behind an operator.
func signed(n int64) string {
	if n < 0 {
		return fmt.Sprintf("(%d)", n)
	}
	return fmt.Sprint(n)
}
