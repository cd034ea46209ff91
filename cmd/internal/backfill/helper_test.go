package backfill_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"gorm.io/gorm"

	"github.com/uidring/uidring/cmd/internal/backfill"
	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/gen"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
)

// uidring is the command under test.
var uidring = clitest.Of(clitest.SQL(gen.New), clitest.SQL(backfill.New))

func TestMain(m *testing.M) {
	clitest.Main(m, func() {
		root := &cobra.Command{Use: "uidring"}
		root.AddCommand(backfill.New(nil))
		cli.Main(root)
	})
}

// ddl makes a table of orders. In MySQL, changed is set whenever a row changes.
var ddl = map[string]string{
	"mysql": "CREATE TABLE orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, created_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), " +
		"changed DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, uid BIGINT, INDEX (created_at))",
	"postgres": "CREATE TABLE orders (id BIGSERIAL PRIMARY KEY, created_at TIMESTAMPTZ NOT NULL, changed TIMESTAMP, uid BIGINT); CREATE INDEX ON orders (created_at, id)",
	"sqlite":   "CREATE TABLE orders (id INTEGER PRIMARY KEY, created_at DATETIME NOT NULL, changed DATETIME, uid BIGINT); CREATE INDEX a ON orders (created_at)",
}

// each runs a test on a database of each kind that has the table orders.
func each(t *testing.T, test func(t *testing.T, s *shop)) {
	for _, kind := range dbtest.Kinds {
		t.Run(kind, func(t *testing.T) { test(t, newShop(t, kind)) })
	}
}

// shop is a database with the table orders.
type shop struct {
	*gorm.DB
	kind, dsn  string
	owner, url *url.URL // of the owner, and of a user without rights
	oldest     time.Time
}

func newShop(t testing.TB, kind string) *shop {
	t.Helper()
	s := &shop{kind: kind, oldest: time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)}
	s.owner, s.url = clitest.User(t, kind)
	s.dsn = s.owner.String()
	s.DB = clitest.Open(t, s.dsn).DB
	clitest.Client(t, s.owner, ddl[kind])
	return s
}

// insert adds n rows without an id, so far apart.
func (s *shop) insert(t testing.TB, n int, apart time.Duration) {
	t.Helper()
	for from := 0; from < n; from += 5000 {
		var values []string
		for i := from; i < min(from+5000, n); i++ {
			values = append(values, "('"+s.oldest.Add(time.Duration(i)*apart).Format(time.DateTime)+"', '2026-01-01 00:00:00')")
		}
		need.Must(t, s.Exec("INSERT INTO orders (created_at, changed) VALUES "+strings.Join(values, ", ")).Error)
	}
}

// start has the service take a worker number, by which the layout is remembered.
func (s *shop) start(t testing.TB, layout string) {
	t.Helper()
	uidring.Succeed(t, "gen", "--dsn", s.dsn, "--layout", layout)
}

// args are those of a backfill of the table.
func (s *shop) args(more ...string) []string {
	return append([]string{"backfill", "--table", "orders", "--key", "id", "--time", "created_at", "--column", "uid", "--dsn", s.dsn}, more...)
}

// number returns what a query counts.
func (s *shop) number(t testing.TB, query string, args ...any) (n int64) {
	t.Helper()
	need.Must(t, s.Raw(query, args...).Scan(&n).Error)
	return n
}

// ages fails the test unless each row has an id whose time is the row's, up to late.
func (s *shop) ages(t testing.TB, layout string, late time.Duration) {
	t.Helper()
	ids, seen := clitest.Allocator(t, layout), map[int64]bool{}
	var rows []struct {
		ID        int64
		CreatedAt time.Time
		UID       int64 `gorm:"column:uid"`
	}
	need.Must(t, s.Table("orders").Order("created_at, id").Find(&rows).Error)
	last := int64(0)
	for _, r := range rows {
		parts, err := ids.Parse(r.UID)
		need.Must(t, err)
		if off := parts.Time.Sub(ids.Time(ids.Tick(r.CreatedAt))); off < 0 || off > late || seen[r.UID] || r.UID <= last {
			t.Fatalf("row %d of %v has %d, which carries %v, after %d", r.ID, r.CreatedAt, r.UID, parts.Time, last)
		}
		seen[r.UID], last = true, r.UID
	}
	if len(rows) == 0 {
		t.Error("there are no rows")
	}
}
