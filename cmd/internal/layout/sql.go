package layout

import (
	"fmt"
	"strings"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/format"
	"github.com/uidring/uidring/worker/lease"
)

// sqlKinds are the databases that --sql takes.
var sqlKinds = []string{"postgres", "mysql", "sqlite"}

// expression is SQL on the column id or on the instant :t, and what it says.
type expression struct{ comment, body string }

// dialect is how a database writes instants. Each text is SQL with these names in it:
//
//	{epoch}, {end}      the layout's epoch and end, as instant writes them
//	{first}, {past}     the same, in steps since 1970
//	{second}, {rest}    the epoch as seconds since 1970 and steps
//	{elapsed}           steps from the epoch to the tick of id
//
// All calculation in SQL is on integers of 64 bits that are not negative, so that division
// rounds down.
type dialect struct {
	about   string
	step    time.Duration // in which the database counts time
	instant string        // layout of package time
	divide  string        // operator
	times   []expression  // of id
	within  string        // whether :t lies in the layout
	since   string        // steps from the epoch to :t
	reverse string        // the lower 63 bits of id, in reverse order
}

const micros = "2006-01-02 15:04:05.000000"

var dialects = map[string]dialect{
	// Intervals of hours and microseconds are exact: their product with an integer has at
	// most 53 significant bits.
	"postgres": {
		about:   "PostgreSQL 14 or later. :t stands for an instant, a timestamptz.",
		step:    time.Microsecond,
		instant: "timestamptz '" + micros + "+00'",
		divide:  "/",
		times: []expression{{"when the tick of the id begins",
			"{epoch} + interval '1 hour' * ({elapsed} / 3600000000) + interval '1 microsecond' * ({elapsed} % 3600000000)"}},
		within:  ":t >= {epoch} AND :t < {end}",
		since:   "(extract(epoch FROM :t) * 1000000 - {first})::bigint",
		reverse: "((CAST(reverse(CAST(id::bit(64) AS text)) AS bit(64))::bigint >> 1) & 9223372036854775807)",
	},
	"mysql": {
		about:   "MySQL and MariaDB. :t stands for an instant\nin UTC, a DATETIME(6): UTC_TIMESTAMP(6), not NOW(6).",
		step:    time.Microsecond,
		instant: "TIMESTAMP'" + micros + "'",
		divide:  "DIV",
		times:   []expression{{"when the tick of the id begins, in UTC", "TIMESTAMPADD(MICROSECOND, {elapsed}, {epoch})"}},
		within:  ":t >= {epoch} AND :t < {end}",
		since:   "TIMESTAMPDIFF(MICROSECOND, {epoch}, :t)",
		reverse: "CAST(CONV(REVERSE(LPAD(BIN(id), 63, '0')), 2, 10) AS SIGNED)",
	},
	// Functions of time round, and go through floating point, so instants are integers of
	// milliseconds, and text is made from whole seconds.
	"sqlite": {
		about:  "SQLite. :t stands for an instant in\nmilliseconds since 1970, an integer, such as unixepoch('2026-03-01') * 1000.",
		step:   time.Millisecond,
		divide: "/",
		times: []expression{
			{"when the tick of the id begins, in milliseconds since 1970", "{first} + {elapsed}"},
			{"the same as text in UTC, such as 2026-03-01 12:00:00.000",
				"datetime(({elapsed} + {rest}) / 1000 + {second}, 'unixepoch') || printf('.%03d', ({elapsed} + {rest}) % 1000)"},
		},
		within: "typeof(:t) = 'integer' AND :t >= {first} AND :t < {past}",
		since:  "(:t - {first})",
		reverse: "(WITH RECURSIVE bit(n, rest, reversed) AS (SELECT 0, id, 0 UNION ALL " +
			"SELECT n + 1, rest >> 1, (reversed << 1) | (rest & 1) FROM bit WHERE n < 63) SELECT reversed FROM bit WHERE n = 63)",
	},
}

// printSQL returns expressions on ids of the layouts. They need no name in the database, so
// that several layouts can be read in one.
func printSQL(of format.Layouts, kind string) (string, error) {
	var texts []string
	for _, e := range of.Newest() {
		if e.Numbers.From > e.Numbers.To { // no id has the layout
			continue
		}
		text, err := printLayout(e.Layout, e.Numbers, kind)
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	if len(texts) > 1 {
		texts[0] = fmt.Sprintf("-- The layout has changed: %d expressions of each kind follow, the present layout's first.\n"+
			"-- One of each kind is not NULL: join them by COALESCE, and conditions by OR.\n--\n", len(texts)) + texts[0]
	}
	return strings.Join(texts, "\n"), nil
}

func printLayout(layout bits.Layout, numbers lease.Range, kind string) (string, error) {
	ids, err := bits.NewAllocator(layout)
	if err != nil {
		return "", err
	}
	d := dialects[kind]
	epoch, end := layout.Epoch.UTC(), layout.End()
	switch {
	case layout.Unit%d.step != 0 || epoch.Nanosecond()%int(d.step) != 0:
		return "", fmt.Errorf("--sql %s counts time in %s, want a layout whose unit and epoch are multiples of that; this one is %s", kind, d.step, layout)
	case end.Year() > 9999:
		return "", fmt.Errorf("--sql %s needs a layout that ends before the year 10000; %s does not", kind, layout)
	}
	under, period := "", "WHERE id BETWEEN (least id) AND (greatest id)."
	if numbers.From > 0 || numbers.To < ids.MaxWorker() {
		under = fmt.Sprintf(",\nunder the worker numbers %d to %d,", numbers.From, min(numbers.To, ids.MaxWorker()))
		period = "WHERE id BETWEEN (least id) AND (greatest id)\nAND (the worker number) IS NOT NULL."
	}
	text := fmt.Sprintf(`Ids of the layout %s%s in %s

id is a column. All are NULL for a number that is not an id of the layout, and for an
instant before %s or from %s on. The reversed id is NULL
below 0 alone.
All ids of a period: %s
The time in an id of uid.Cached is not the time of the call: see Cached.Range.
`, layout, under, d.about, epoch.Format(time.RFC3339Nano), end.Format(time.RFC3339Nano), period)
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight("-- "+line, " \n") + "\n")
	}
	for _, e := range d.expressions(ids, numbers) {
		fmt.Fprintf(&b, "\n-- %s\n%s\n", e.comment, e.body)
	}
	return b.String(), nil
}

func (d dialect) expressions(ids *bits.Allocator, numbers lease.Range) []expression {
	layout := ids.Layout()
	shift := layout.WorkerBits + layout.SequenceBits
	greatest, _ := ids.Compose(ids.MaxTick(), ids.MaxWorker(), ids.MaxSequence()) // in range
	steps := int64(layout.Unit / d.step)
	since := func(t time.Time) string {
		return signed(t.Unix()*int64(time.Second/d.step) + int64(t.Nanosecond())/int64(d.step))
	}
	named := strings.NewReplacer(
		"{epoch}", layout.Epoch.Format(d.instant), "{end}", layout.End().Format(d.instant),
		"{first}", since(layout.Epoch), "{past}", since(layout.End()),
		"{second}", signed(layout.Epoch.Unix()), "{rest}", fmt.Sprint(layout.Epoch.Nanosecond()/int(d.step)),
		"{elapsed}", fmt.Sprintf("(id >> %d) * %d", shift, steps))

	var list []expression
	is := fmt.Sprintf("id BETWEEN 0 AND %d", greatest)
	if numbers.From > 0 || numbers.To < ids.MaxWorker() {
		is += fmt.Sprintf(" AND ((id >> %d) & %d) BETWEEN %d AND %d", layout.SequenceBits, ids.MaxWorker(), numbers.From, min(numbers.To, ids.MaxWorker()))
	}
	ofID := func(comment, body string) {
		list = append(list, expression{comment, fmt.Sprintf("CASE WHEN %s THEN %s END", is, named.Replace(body))})
	}
	field := func(comment string, shift, bits uint8) {
		ofID(comment, fmt.Sprintf("((id >> %d) & %d)", shift, int64(1)<<bits-1))
	}
	for _, e := range d.times {
		ofID(e.comment, e.body)
	}
	field("the worker number", layout.SequenceBits, layout.WorkerBits)
	at := shift
	for _, p := range format.PartsOf(ids, 0) {
		at -= p.Bits
		field(p.Name+", a part of the worker number", at, p.Bits)
	}
	field("the position within the tick", 0, layout.SequenceBits)
	list = append(list, expression{"the reversed id, for databases that shard by range; of a reversed id, the id", "CASE WHEN id >= 0 THEN " + d.reverse + " END"})
	tick := named.Replace(fmt.Sprintf("(%s %s %d)", d.since, d.divide, steps))
	period := func(comment, id string, args ...any) {
		body := fmt.Sprintf("CASE WHEN %s THEN %s END", named.Replace(d.within), fmt.Sprintf(id, args...))
		list = append(list, expression{comment, body})
	}
	period("the least id of the tick that :t lies in", "(%s << %d)", tick, shift)
	period("the greatest id of that tick", "(%s << %d | %d)", tick, shift, int64(1)<<shift-1)
	return list
}

// signed returns a number that may stand behind an operator.
func signed(n int64) string {
	if n < 0 {
		return fmt.Sprintf("(%d)", n)
	}
	return fmt.Sprint(n)
}
