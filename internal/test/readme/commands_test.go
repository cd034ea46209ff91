package readme

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
)

// pages are those whose commands and statements a reader copies.
var pages = []string{"docs/choosing.md", "docs/migrating.md", "docs/production.md", "docs/databases.md", "docs/reliability.md"}

// copied returns a page without what [TestLiveTable] follows.
func copied(t *testing.T, page string) string {
	t.Helper()
	if page == livePage {
		_, rest := live(t)
		return rest
	}
	return read(t, page)
}

// TestCommands runs each command of the pages, in blocks and in sentences, beside one SQLite
// file. It only lists benchmarks, which need servers and minutes.
func TestCommands(t *testing.T) {
	need.CI(t)
	folder := t.TempDir()
	run := func(dir, page, command string) (said string) {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "PATH="+folder+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %s: %v: %s", page, command, err, out)
		}
		return string(out)
	}
	run(top, "", "go build -o "+folder+" ./cmd/uidring ./cmd/uidringd")
	run(folder, "", "uidring gen") // leases number 1
	kinds := map[string]int{}
	for _, page := range pages {
		text := copied(t, page)
		for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(text, -1) {
			for line := range strings.Lines(block[1]) {
				kinds["block"]++
				run(folder, page, line)
			}
		}
		for _, span := range regexp.MustCompile("[^`]`([^`]+)`[^`]").FindAllStringSubmatch(text, -1) {
			command := strings.Join(strings.Fields(span[1]), " ")
			kind, _, _ := strings.Cut(command, " ")
			switch url := strings.TrimPrefix(command, "--dsn "); {
			case (kind == "uidring" || kind == "uidringd") && kind != command:
				run(folder, page, strings.Replace(command, " N", " 1", 1))
			case strings.HasPrefix(command, "go test "):
				_, pattern, _ := strings.Cut(command, "-bench ")
				pattern, _, _ = strings.Cut(pattern, " ")
				if list := run(top, page, command+" -list "+pattern); !strings.Contains(list, "Benchmark") {
					t.Errorf("%s: %s: no benchmark has such a name: %s", page, command, list)
				}
			case regexp.MustCompile(`^(etcd|redis|zk|kube)://`).MatchString(url):
				run(folder, page, "printf 'stores: [{name: a, url: \""+url+"\"}]\ngenerators: [{name: ids, kind: cached, store: a}]' >a.yaml && uidringd --check --config a.yaml")
				kind = "url"
			default:
				continue
			}
			kinds[kind]++
		}
	}
	for _, kind := range []string{"block", "uidring", "go", "url"} {
		if kinds[kind] == 0 {
			t.Errorf("the pages have %v, want some of each kind", kinds)
		}
	}
}

// TestStatements runs each statement of the pages on each database that it is for.
func TestStatements(t *testing.T) {
	keys := map[string]string{"sqlite": "INTEGER PRIMARY KEY AUTOINCREMENT", "mysql": "BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY", "postgres": "BIGSERIAL PRIMARY KEY"}
	dbtest.Each(t, func(t *testing.T, s *dbtest.Store) {
		s.Table = strings.ToLower(s.Table)
		s.Exec(t, "CREATE TABLE %s (id %s, buyer VARCHAR(20))", s.Table, keys[s.Kind])
		statements := 0
		for _, page := range pages {
			for _, block := range regexp.MustCompile("(?s)```sql ?(\\w*)\n(.*?)```").FindAllStringSubmatch(copied(t, page), -1) {
				if block[1] != "" && block[1] != s.Kind {
					continue
				}
				statements++
				var rows []map[string]any
				text := strings.ReplaceAll(block[2], "orders", s.Table)
				args := []any{map[string]any{"last": 0, "settled": 1}}
				if err := s.DB.Raw(text, args[:strings.Count(text, "@last")]...).Scan(&rows).Error; err != nil {
					t.Errorf("%s: %s%v", page, text, err)
				}
			}
		}
		if statements == 0 {
			t.Error("no statement is for this database")
		}
	})
}

// TestReadNewRows: a consumer that reads below settled misses no row, although the greater of two ids is
// committed first.
func TestReadNewRows(t *testing.T) {
	_, text, _ := strings.Cut(read(t, "docs/databases.md"), "```sql\n")
	text, _, _ = strings.Cut(text, "```")
	dbtest.Each(t, func(t *testing.T, s *dbtest.Store) {
		s.Table = strings.ToLower(s.Table)
		s.Exec(t, "CREATE TABLE %s (id BIGINT PRIMARY KEY)", s.Table)
		statement := strings.ReplaceAll(text, "orders", s.Table)
		drawn := time.Now()
		readUpTo := func(last, settled int64) (ids []int64) {
			t.Helper()
			need.Must(t, s.DB.Raw(statement, map[string]any{"last": last, "settled": settled}).Scan(&ids).Error)
			return ids
		}
		first, second := firstID(t, drawn), firstID(t, drawn)+1
		s.Exec(t, "INSERT INTO %s VALUES (%d)", s.Table, second)
		if ids := readUpTo(0, firstID(t, drawn.Add(time.Second-3*time.Minute))); len(ids) != 0 {
			t.Errorf("a consumer has read %d, and would miss %d", ids, first)
		}
		s.Exec(t, "INSERT INTO %s VALUES (%d)", s.Table, first)
		if got, want := fmt.Sprint(readUpTo(0, firstID(t, drawn.Add(time.Second)))), fmt.Sprint([]int64{first, second}); got != want {
			t.Errorf("a consumer reads %s, want %s", got, want)
		}
	})
}
