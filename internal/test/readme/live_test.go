package readme

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidgorm"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

const livePage = "docs/migrating.md"

// live returns the section of the page, which TestLiveTable follows, and the page without it.
func live(t *testing.T) (section, rest string) {
	t.Helper()
	before, text, found := strings.Cut(read(t, livePage), "\n## A live table\n")
	section, after, ends := strings.Cut(text, "\n## ")
	if !found || !ends {
		t.Fatalf("%s has no section on live tables", livePage)
	}
	return section, before + "\n## " + after
}

// TestLiveTable follows the page on live tables to its end, with a service that creates, pays and reads orders in each moment,
// and goes back where the page says how. UIDRING_TEST_ROWS is the number of rows that are old; 5,000 without it, and 200,000 in make
// stress-backfill.
func TestLiveTable(t *testing.T) {
	need.CI(t)
	rows := int(need.Number(t, "UIDRING_TEST_ROWS", 5000))
	section, _ := live(t)
	checkModels(t, section)
	bin := t.TempDir()
	need.Build(t, bin, "github.com/uidring/uidring/cmd/uidring")
	for _, kind := range []string{"mysql", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			m := newMove(t, kind, section, bin)
			m.oldRows(t, rows)
			m.follow(t)
			m.verify(t, rows)
		})
	}
}

// move is a live table on its way.
type move struct {
	kind, section, bin, dsn string
	schema                  string   // of the tables
	db                      *gorm.DB // the operator's
	service                 *shop
}

func newMove(t *testing.T, kind, section, bin string) *move {
	t.Helper()
	s := dbtest.New(t, kind)
	name := strings.ToLower(s.Table) + "_live"
	s.Exec(t, "CREATE DATABASE %s", name)
	t.Cleanup(func() { s.Exec(t, "DROP DATABASE %s", name) })
	m := &move{kind: kind, section: section, bin: bin}
	var own string
	if kind == "mysql" {
		config, err := mysqldriver.ParseDSN(s.URL)
		need.Must(t, err)
		config.DBName = name
		m.dsn, own, m.schema = config.FormatDSN(), config.FormatDSN(), name
	} else {
		u, err := url.Parse(s.URL)
		need.Must(t, err)
		u.Path = "/" + name
		m.dsn, m.schema = u.String(), "public"
		query := u.Query()
		query.Set("default_query_exec_mode", "exec") // as the page says
		u.RawQuery = query.Encode()
		own = u.String()
	}
	m.db = s.Open(t, m.dsn)
	auto := map[string]string{"mysql": "BIGINT AUTO_INCREMENT PRIMARY KEY", "postgres": "BIGSERIAL PRIMARY KEY"}[kind]
	stamp := map[string]string{"mysql": "DATETIME(6)", "postgres": "TIMESTAMPTZ"}[kind]
	m.run(t, "CREATE TABLE orders (id "+auto+", created_at "+stamp+" NOT NULL, buyer VARCHAR(40) NOT NULL UNIQUE);\n"+
		"CREATE TABLE order_lines (id "+auto+", order_id BIGINT NOT NULL, CONSTRAINT order_lines_old FOREIGN KEY (order_id) REFERENCES orders (id));\n"+
		"CREATE TABLE payments (id "+auto+", order_id BIGINT NOT NULL, CONSTRAINT payments_old FOREIGN KEY (order_id) REFERENCES orders (id));\n")
	service := s.Open(t, own)
	gen, err := uid.NewCached(t.Context(), worker.NewLeaser(s.Open(t, m.dsn), lease.Config{Logger: quiet}), uid.CachedConfig{Logger: quiet})
	need.Must(t, err)
	t.Cleanup(func() { _ = gen.Close() })
	need.Must(t, service.Use(uidgorm.New(gen, uidgorm.Config{})))
	m.service = &shop{db: service}
	t.Cleanup(m.service.close)
	return m
}

// oldRows adds n orders of the past, each with a line and a payment.
func (m *move) oldRows(t *testing.T, n int) {
	t.Helper()
	from := time.Date(2026, time.February, 1, 0, 0, 0, 0, time.UTC)
	for at := 0; at < n; at += 5000 {
		var orders, children []string
		for i := at; i < min(at+5000, n); i++ {
			orders = append(orders, fmt.Sprintf("('%s', 'old %d')", from.Add(time.Duration(i)*time.Minute).Format(time.DateTime), i))
			children = append(children, fmt.Sprintf("(%d)", i+1))
		}
		need.Must(t, m.db.Exec("INSERT INTO orders (created_at, buyer) VALUES "+strings.Join(orders, ", ")).Error)
		for _, child := range []string{"order_lines", "payments"} {
			need.Must(t, m.db.Exec("INSERT INTO "+child+" (order_id) VALUES "+strings.Join(children, ", ")).Error)
		}
	}
	m.service.old = n
}

// follow does the steps of the page, from the first deployment to the last.
func (m *move) follow(t *testing.T) {
	t.Helper()
	m.service.open(t, oldOnly)
	m.step(t, 0)
	for _, last := range []int{1, 2, 3, 4, 4} { // and back each time but the last
		for n := 1; n <= last; n++ {
			if m.step(t, n); n == 2 {
				m.service.deploy(t, both)
			}
		}
		if m.service.rounds++; m.service.rounds < 5 {
			m.back(t)
		}
	}
	for _, next := range []version{byNew, both, byNew} {
		m.service.deploy(t, next)
	}
	blocks := m.blocks(6)
	m.each(t, blocks[0])
	m.service.deploy(t, newOnly)
	m.service.deploy(t, byNew)
	for _, child := range []string{"order_lines", "payments"} {
		m.run(t, "UPDATE "+child+" SET order_id = (SELECT id FROM orders WHERE orders.uid = "+child+".order_uid) WHERE order_id IS NULL;\n")
	}
	m.service.deploy(t, newOnly)
	m.each(t, blocks[1])
	m.service.deploy(t, newOnly)
	m.service.close()
}

// back undoes the steps 1 to 4, or those of them that were done.
func (m *move) back(t *testing.T) {
	t.Helper()
	columns := [][2]string{{"order_lines", "order_uid"}, {"payments", "order_uid"}, {"orders", "uid"}}
	drop := map[string]string{"mysql": "DROP FOREIGN KEY %s_uid", "postgres": "DROP CONSTRAINT %s_uid, DROP CONSTRAINT %[1]s_set"}[m.kind]
	nullable := map[string]string{"mysql": "MODIFY %s BIGINT NULL", "postgres": "ALTER COLUMN %s DROP NOT NULL"}[m.kind]
	for _, c := range columns[:2] {
		if m.number(t, "SELECT COUNT(*) FROM information_schema.table_constraints WHERE table_schema = '"+m.schema+"' AND table_name = '"+c[0]+"' AND constraint_name = '"+c[0]+"_uid'") > 0 {
			m.run(t, "ALTER TABLE "+c[0]+" "+fmt.Sprintf(drop, c[0])+";\n")
		}
	}
	for _, c := range columns {
		m.run(t, "ALTER TABLE "+c[0]+" "+fmt.Sprintf(nullable, c[1])+";\n")
	}
	m.service.deploy(t, oldOnly)
	for _, c := range columns {
		m.run(t, "ALTER TABLE "+c[0]+" DROP COLUMN "+c[1]+";\n")
	}
}

// step does what a step of the page shows.
func (m *move) step(t *testing.T, n int) {
	t.Helper()
	for _, block := range m.blocks(n) {
		m.each(t, block)
	}
}

// block is a command, or statements for this database.
type block struct{ language, text string }

func (m *move) blocks(n int) (blocks []block) {
	steps := regexp.MustCompile(`(?m)^\*\*\d\. `).Split(m.section, -1)
	for _, found := range regexp.MustCompile("(?s)```(\\w+) ?(\\w*)\n(.*?)```").FindAllStringSubmatch(steps[n], -1) {
		if found[1] != "go" && (found[2] == "" || found[2] == m.kind) {
			blocks = append(blocks, block{found[1], found[3]})
		}
	}
	return blocks
}

// each runs a block, for each range of ids if it has one, and for both of the child tables.
func (m *move) each(t *testing.T, b block) {
	t.Helper()
	if b.language == "sh" {
		m.command(t, b.text)
		return
	}
	if strings.Contains(b.text, "order_lines") && !strings.Contains(b.text, "payments") { // its children first
		child, parent, _ := strings.Cut(b.text, "ALTER TABLE orders ")
		if parent != "" {
			parent = "ALTER TABLE orders " + parent
		}
		b.text = child + strings.ReplaceAll(child, "order_lines", "payments") + parent
	}
	if !strings.Contains(b.text, "@from") {
		m.run(t, b.text)
		return
	}
	for _, text := range strings.SplitAfter(b.text, "@to\n") {
		if text == "" {
			continue
		}
		child := strings.Fields(text)[1]
		for from := int64(1); from <= m.number(t, "SELECT MAX(id) FROM "+child); from += 10_000 {
			need.Must(t, retry(func() error { return m.db.Exec(text, map[string]any{"from": from, "to": from + 9999}).Error }))
		}
	}
}

// run runs statements in one session, as a client does, but for comments.
func (m *move) run(t *testing.T, script string) {
	t.Helper()
	script = regexp.MustCompile(`(?m)^--.*\n`).ReplaceAllString(script, "")
	need.Must(t, m.db.Connection(func(tx *gorm.DB) error {
		tx = tx.Session(&gorm.Session{}) // whose errors do not stay
		for statement := range strings.SplitSeq(script, ";\n") {
			if strings.TrimSpace(statement) == "" {
				continue
			}
			if err := retry(func() error { return tx.Exec(statement).Error }); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	}))
}

// command runs a command, and then the script that it has written.
func (m *move) command(t *testing.T, text string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", text)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "DSN="+m.dsn, "PATH="+m.bin+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", text, err, out)
	}
	if strings.Contains(text, "next.sql") {
		script, err := os.ReadFile(filepath.Join(cmd.Dir, "next.sql"))
		need.Must(t, err)
		m.run(t, string(script))
	}
}

func (m *move) number(t *testing.T, query string) (n int64) {
	t.Helper()
	need.Must(t, m.db.Raw(query).Scan(&n).Error)
	return n
}

// verify compares the tables with what the service has done: no row is lost, each child has its order, and an order's id
// carries its time.
func (m *move) verify(t *testing.T, rows int) {
	t.Helper()
	s := m.service
	for table, want := range map[string]int64{
		"orders": int64(rows) + s.orders.Load(), "order_lines": int64(rows) + s.orders.Load(), "payments": int64(rows) + s.orders.Load() + s.paid.Load(),
	} {
		if n := m.number(t, "SELECT COUNT(*) FROM "+table); n != want {
			t.Errorf("%s has %d rows, want %d", table, n, want)
		}
	}
	for _, child := range []string{"order_lines", "payments"} {
		if n := m.number(t, "SELECT COUNT(DISTINCT orders.uid) FROM orders JOIN "+child+" ON order_uid = orders.uid"); n != int64(rows)+s.orders.Load() {
			t.Errorf("%d orders have %s", n, child)
		}
	}
	if err := m.db.Exec("INSERT INTO order_lines (order_uid) VALUES (1)").Error; err == nil {
		t.Error("a line without an order is accepted")
	}
	var old []uid.ID
	need.Must(t, m.db.Raw("SELECT uid FROM orders WHERE buyer = 'old 7'").Scan(&old).Error)
	if first := firstID(t, time.Date(2026, time.February, 1, 0, 7, 0, 0, time.UTC)); len(old) != 1 || int64(old[0])>>32 != first>>32 {
		t.Errorf("the id of an old order is %d, want the time of %d", old, first)
	}
	t.Logf("%d requests and %d deadlocks while %d orders moved", s.orders.Load(), deadlocks.Swap(0), rows)
}
