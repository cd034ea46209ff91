package segmentsql_test

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	mysqldriver "github.com/go-sql-driver/mysql"

	"github.com/uidring/uidring/internal/processes"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

const (
	leafVariable = "UIDRING_TEST_LEAF" // for processes that draw beside Leaf: a URL and a table
	leafDraws    = 20_000              // ids that each process draws
	leafRestarts = 20                  // of each process in Go
)

// drawBesideLeaf is a process in Go. It closes its generators, so that returns race with
// Leaf's loads.
func drawBesideLeaf(value string, start func()) error {
	url, table, _ := strings.Cut(value, "\n")
	db, err := dbtest.Open(url)
	if err != nil {
		return err
	}
	defer dbtest.Close(db)
	store := segmentsql.NewLeafAlloc(db, segmentsql.Config{Table: table})
	start()
	var ids [leafDraws / leafRestarts]uid.ID
	for range leafRestarts {
		gen, err := segment.New(context.Background(), store, "orders", segment.Config{MaxStep: 100, Logger: quiet})
		if err != nil {
			return err
		}
		if _, err := gen.NextN(ids[:]); err != nil {
			return err
		}
		if err := gen.Close(); err != nil {
			return err
		}
		for _, id := range ids {
			fmt.Println(int64(id))
		}
	}
	return nil
}

// Processes in Go and in Java draw from one row of a table that Leaf's own statement
// made. No id is drawn twice.
func TestBesideJava(t *testing.T) {
	driver := need.Variable(t, "UIDRING_TEST_JDBC")
	need.Program(t, "javac")
	s := dbtest.New(t, "mysql")
	s.Exec(t, articleTable, s.Table)
	s.Exec(t, "INSERT INTO %s (biz_tag, step) VALUES ('orders', 50)", s.Table)
	dsn, err := mysqldriver.ParseDSN(s.URL)
	must(t, err)
	jdbc := fmt.Sprintf("jdbc:mariadb://%s/%s?user=%s&password=%s", dsn.Addr, dsn.DBName, dsn.User, dsn.Passwd)
	commands := processes.Self(t, 2, leafVariable, s.URL+"\n"+s.Table)
	for range 2 {
		commands = append(commands,
			exec.CommandContext(t.Context(), "java", "-cp", driver, "testdata/LeafTwin.java", jdbc, s.Table, "orders", strconv.Itoa(leafDraws)))
	}
	seen := map[uid.ID]bool{}
	for i, words := range processes.Run(t, commands...) {
		if len(words) != leafDraws {
			t.Errorf("process %d drew %d ids, want %d", i, len(words), leafDraws)
		}
		last := uid.ID(0)
		for _, word := range words {
			id, err := uid.ParseID(word)
			if err != nil || id <= last || seen[id] {
				t.Fatalf("process %d drew %q after %d, %v; drawn before: %v", i, word, last, err, seen[id])
			}
			seen[id], last = true, id
		}
	}
	counters, err := segmentsql.NewLeafAlloc(s.DB, segmentsql.Config{Table: s.Table}).List(t.Context())
	if greatest := slices.Max(slices.Collect(maps.Keys(seen))); err != nil || counters[0].Next <= int64(greatest) {
		t.Errorf("List() = %+v, %v, want a counter above %d", counters, err, greatest)
	}
}
