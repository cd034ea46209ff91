package segments_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/cmd/internal/gen"
	"github.com/uidring/uidring/cmd/internal/segments"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

// uidring is the command under test.
var uidring = clitest.Of(clitest.SQL(gen.New), clitest.SQL(segments.New))

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counter is a line of --json.
type counter struct {
	Tag     string    `json:"tag"`
	Next    int64     `json:"next,string"`
	Step    int64     `json:"step"`
	Updated time.Time `json:"updated"`
}

func list(t *testing.T, args ...string) map[string]counter {
	t.Helper()
	all := map[string]counter{}
	for line := range strings.Lines(uidring.Succeed(t, append([]string{"segments", "--json"}, args...)...)) {
		c := clitest.Decode[counter](t, line)
		all[c.Tag] = c
	}
	return all
}

// A counter from its making to ids that go on after it was raised.
func TestSegments(t *testing.T) {
	for _, kind := range dbtest.Kinds {
		t.Run(kind, func(t *testing.T) {
			owner, _ := clitest.User(t, kind)
			for _, table := range []string{"leaf_alloc", "sequence"} {
				at := []string{"--dsn", owner.String(), "--table", table}
				run := func(args ...string) string { return uidring.Succeed(t, append(args, at...)...) }
				prints := func(want string, args ...string) { uidring.Print(t, want, append(args, at...)...) }
				if got := run("segments", "create", "orders"); !strings.HasPrefix(got, "orders begins at 1, in ") {
					t.Error(got)
				}
				run("segments", "create", "invoices", "--next", "500", "--step", "20")
				uidring.Fail(t, 1, "orders has a counter already", append([]string{"segments", "create", "orders", "--next", "7"}, at...)...)
				prints("1\n2\n3\n", "gen", "--segment", "orders", "-n", "3")
				prints("4\n5\n", "gen", "--segment", "orders", "-n", "2") // the rest was returned
				if got := run("segments", "set", "orders", "--at-least", "3"); !strings.HasPrefix(got, "the counter of orders is 6: it was above 3 already; a process that runs may return") {
					t.Error(got)
				}
				prints("the counter of orders is 1000\n", "segments", "set", "orders", "--at-least", "1000")
				if ids := clitest.ReadIDs(t, run("gen", "--segment", "orders", "-n", "100000")); len(ids) != 100000 || ids[0] != 1000 || ids[99999] != 100999 {
					t.Errorf("%d ids from %d", len(ids), ids[0])
				}
				all := list(t, at...)
				if len(all) != 2 || all["orders"].Next != 101000 || all["invoices"].Next != 500 {
					t.Errorf("%+v", all)
				}
				if table == "leaf_alloc" && (all["invoices"].Step != 20 || time.Since(all["orders"].Updated).Abs() > time.Hour) {
					t.Errorf("%+v", all)
				}
				uidring.Fail(t, 1, "create it with uidring segments create oders", append([]string{"gen", "--segment", "oders"}, at...)...)
				if all := list(t, at...); len(all) != 2 {
					t.Errorf("%+v", all)
				}
			}
		})
	}
}

// Listing writes nothing, the file's time included.
func TestTable(t *testing.T) {
	clitest.Elsewhere(t)
	for _, args := range []string{"create a --next 5", "create invoices --next 1000000 --step 20"} {
		uidring.Succeed(t, append([]string{"segments"}, strings.Fields(args)...)...)
	}
	db := clitest.Open(t, database.Default)
	for _, statement := range []string{
		"UPDATE leaf_alloc SET update_time = '2026-01-02 03:04:05'",
		"INSERT INTO leaf_alloc (biz_tag, max_id, step, update_time) VALUES ('b' || char(27), 1, 1, '2026-01-02 03:04:05')",
		"INSERT INTO leaf_alloc (biz_tag, max_id, step, update_time) VALUES ('with blank', 1, 1000, '2026-01-02 03:04:05')",
	} {
		need.Must(t, db.Exec(statement).Error)
	}
	const want = `TAG         NEXT     STEP  UPDATED
a           5        1000  2026-01-02T03:04:05Z
"b\x1b"     1        1     2026-01-02T03:04:05Z
invoices    1000000  20    2026-01-02T03:04:05Z
with blank  1        1000  2026-01-02T03:04:05Z
`
	before := time.Date(2020, 2, 20, 0, 0, 0, 0, time.UTC)
	need.Must(t, os.Chtimes(database.Default, before, before))
	uidring.Print(t, want, "segments")
	if info, err := os.Stat(database.Default); err != nil || !info.ModTime().Equal(before) {
		t.Errorf("%v, %v: the file was written", info, err)
	}
	uidring.Succeed(t, "segments", "create", "a", "--table", "sequence")
	uidring.Print(t, "TAG  NEXT  STEP  UPDATED\na    1     1000  -\n", "segments", "--table", "sequence")
}

// Listing the counters of a database without the table succeeds, and creates no table.
func TestNoTable(t *testing.T) {
	clitest.Elsewhere(t)
	need.Must(t, os.WriteFile(database.Default, nil, 0o600))
	for table, of := range map[string]string{"leaf_alloc": "leaf_alloc", "sequence": "SEQUENCE"} {
		want := "there are no counters yet: uidring segments create TAG creates the first, in sqlite table " + of + " of SQLite file \""
		if got := uidring.Succeed(t, "segments", "--table", table); !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 1 {
			t.Errorf("%q, want %q", got, want)
		}
		uidring.Print(t, "", "segments", "--table", table, "--json")
		uidring.Fail(t, 1, "unknown tag", "segments", "set", "orders", "--at-least", "5", "--table", table)
	}
	if info, err := os.Stat(database.Default); err != nil || info.Size() > 0 {
		t.Errorf("%v, %v: the file was written", info, err)
	}
}

// The segment commands do not list gapless counters.
func TestGapless(t *testing.T) {
	clitest.Elsewhere(t)
	if got := uidring.Succeed(t, "segments", "create", "invoices", "--gapless", "--next", "7"); !strings.HasPrefix(got, "invoices begins at 7, in ") {
		t.Error(got)
	}
	if got := list(t)["invoices"]; got.Next != 7 || got.Step != 0 {
		t.Errorf("%+v", got)
	}
	uidring.Fail(t, 1, "invoices has a counter already", "segments", "create", "invoices", "--gapless")
	uidring.Fail(t, 2, "[gapless step] were all set", "segments", "create", "more", "--gapless", "--step", "5")
	uidring.Fail(t, 1, "keeps no step", "segments", "create", "more", "--gapless", "--table", "sequence")
	uidring.Fail(t, 1, "is gapless", "gen", "--segment", "invoices")
}

// Of the counter of a store of segment.NewStriped, the command tells ids.
func TestStriped(t *testing.T) {
	clitest.Elsewhere(t)
	const tag = "orders 2/3 x1000" // has 1,000 to 1,999, 4,000 to 4,999 and so on
	if got := uidring.Succeed(t, "segments", "create", tag, "--dsn", "ids.db"); !strings.HasPrefix(got, tag+" begins at 1001, in ") {
		t.Error(got)
	}
	for _, c := range []struct{ least, want string }{
		{"1500", "1500\n"}, {"2000", "4000\n"}, {"4000", "4000\n"}, {"3500", "4000\n"}, {"1600", "4000: it was above 1600 already; a process that runs may return ids at its end, which lowers it\n"},
	} {
		uidring.Print(t, "the counter of "+tag+" is "+c.want, "segments", "set", tag, "--at-least", c.least, "--dsn", "ids.db")
	}
	if got := list(t, "--dsn", "ids.db")[tag].Next; got != 4000 {
		t.Errorf("next is %d, want 4000", got)
	}
	uidring.Show(t, "\n"+tag+"  4000  1000  ", "segments", "--dsn", "ids.db")
	uidring.Fail(t, 1, "counter that Striped has", "gen", "--segment", tag, "--dsn", "ids.db")
}

// A counter of New is split among two stores, as package segment documents. Every step
// before the last refuses to start with Striped, and no id repeats.
func TestSplitACounter(t *testing.T) {
	clitest.Elsewhere(t)
	uidring.Succeed(t, "segments", "create", "orders", "--next", "4708", "--dsn", "a.db")
	used := clitest.ReadIDs(t, uidring.Succeed(t, "gen", "--segment", "orders", "-n", "3", "--dsn", "a.db"))
	next := strconv.FormatInt(list(t, "--dsn", "a.db")["orders"].Next, 10)
	for _, step := range []string{
		"set orders --at-least 9223372036854775807 --dsn a.db",
		"create orders_1/2_x1000 --dsn a.db --next " + next,
		"create orders_2/2_x1000 --dsn b.db --next " + next,
	} {
		if s, err := segment.NewStriped(t.Context(), split(t), "orders", segment.StripedConfig{}); err == nil {
			t.Errorf("NewStriped() = %v before %q", s, step)
		}
		args := strings.Fields("segments " + step)
		args[2] = strings.ReplaceAll(args[2], "_", " ")
		uidring.Succeed(t, args...)
	}
	s, err := segment.NewStriped(t.Context(), split(t), "orders", segment.StripedConfig{})
	need.Must(t, err)
	defer s.Close()
	for range 3000 {
		if id, err := s.Next(); int64(id) <= used[2] || id > 10_000 || err != nil {
			t.Fatalf("Next() = %d, %v, want ids soon above %d", id, err, used[2])
		}
	}
	uidring.Fail(t, 2, "ids would repeat", "gen", "--segment", "orders", "--dsn", "a.db")
}

// split returns the stores of a.db and b.db.
func split(t *testing.T) (stores []segment.Store) {
	for _, file := range []string{"a.db", "b.db"} {
		stores = append(stores, segmentsql.NewLeafAlloc(clitest.Open(t, file).DB, segmentsql.Config{}))
	}
	return stores
}

// A counter of Striped may have no id left below an id that others have. Any other tag with a blank is most likely two,
// or one of Striped that is mistyped.
func TestCreateRefused(t *testing.T) {
	clitest.Elsewhere(t)
	const tag, next = "orders 2/3 x10", "9223372036854775800"
	uidring.Fail(t, 2, "--next "+next+" leaves no id for "+tag, "segments", "create", tag, "--next", next)
	uidring.Succeed(t, "segments", "create", "orders 1/3 x10", "--next", next)
	for _, tag := range []string{"a b", "orders 1/3", "orders  1/3 x10", "a b 1/3 x10"} {
		uidring.Fail(t, 2, "has a space", "segments", "create", tag)
	}
}
