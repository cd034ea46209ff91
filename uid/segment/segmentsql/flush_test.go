//go:build linux

package segmentsql_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

// wantRisks starts two tags of one store, and wants one warning for each setting, given as "setting value", and no other.
func wantRisks(t *testing.T, db *gorm.DB, table string, settings ...string) {
	t.Helper()
	var out logged.Text
	store := segmentsql.NewLeafAlloc(db, segmentsql.Config{Table: table, Logger: out.Logger()})
	for _, tag := range []string{"orders", "users"} {
		if err := store.Create(t.Context(), tag, 1, 10); err != nil && !errors.Is(err, segment.ErrTagExists) {
			t.Fatal(err)
		}
		_, _, err := store.Reserve(t.Context(), tag, 10)
		must(t, err)
	}
	for _, s := range settings {
		setting, value, _ := strings.Cut(s, " ")
		if out.Count("level=WARN", "undo commits", "setting="+setting+" ", "value="+value+"\n") != 1 {
			t.Errorf("logged %s, want one warning about %s", &out, s)
		}
	}
	if out.Count("level=WARN") != len(settings) {
		t.Errorf("logged %s, want warnings about %q", &out, settings)
	}
}

// A store warns of each setting of the server with which a crash can undo a commit, and of no other.
func TestWarnsOfServer(t *testing.T) {
	need.CI(t)
	servers := map[string]func(*testing.T, string) servertest.Database{"mysql": servertest.MariaDB, "postgres": servertest.Postgres}
	for kind, rows := range map[string][]struct{ args, want []string }{
		"mysql": {
			{[]string{"--sync-binlog=0"}, nil}, // without a binary log
			{[]string{"--log-bin=log", "--sync-binlog=1", "--server-id=1"}, nil},
			{[]string{"--log-bin=log", "--sync-binlog=0", "--server-id=1"}, []string{"sync_binlog 0"}},
			{[]string{"--log-bin=log", "--sync-binlog=100", "--server-id=1", "--innodb-flush-log-at-trx-commit=2", "--innodb-flush-method=nosync"},
				[]string{"sync_binlog 100", "innodb_flush_log_at_trx_commit 2", "innodb_flush_method nosync"}},
			{[]string{"--innodb-flush-log-at-trx-commit=0"}, []string{"innodb_flush_log_at_trx_commit 0"}},
		},
		"postgres": {
			{[]string{"-c", "synchronous_commit=local"}, nil}, // without a standby
			{[]string{"-c", "synchronous_commit=local", "-c", "synchronous_standby_names=other"}, []string{"synchronous_commit local"}},
			{[]string{"-c", "synchronous_commit=off", "-c", "fsync=off", "-c", "full_page_writes=off"},
				[]string{"synchronous_commit off", "fsync off", "full_page_writes off"}},
		},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			database := servers[kind](t, t.TempDir())
			for _, row := range rows {
				t.Run(strings.Join(row.args, " "), func(t *testing.T) {
					want := row.want
					server := database.With(row.args...).Start(t, dbtest.Answers)
					s := dbtest.At(t, kind, server.URL(server.Address))
					checksums := ""
					if kind == "postgres" {
						must(t, s.DB.Raw("SHOW data_checksums").Scan(&checksums).Error)
					}
					if checksums == "on" { // with which a server finds the pages that it has lost
						want = slices.DeleteFunc(slices.Clone(want), func(s string) bool { return s == "full_page_writes off" })
					}
					wantRisks(t, s.DB, s.Table, want...)
				})
			}
		})
	}
}

const aria = " ENGINE = Aria"

// So it does of a session, and of a table.
func TestWarnsOfTable(t *testing.T) {
	columns := "(biz_tag VARCHAR(128) PRIMARY KEY, max_id BIGINT NOT NULL, step INT NOT NULL, update_time TIMESTAMP)"
	partitioned := "CREATE TABLE %[1]s " + columns + " PARTITION BY HASH (biz_tag); CREATE %[2]s TABLE %[1]s_0 PARTITION OF %[1]s FOR VALUES WITH (MODULUS 1, REMAINDER 0)"
	for kind, rows := range map[string][]struct{ table, option, want string }{
		"mysql": {
			{"CREATE TABLE %s " + columns + " ENGINE = InnoDB", "", ""},
			{"CREATE TABLE %s " + columns + " ENGINE = MyISAM", "", "engine MyISAM"},
			{"CREATE TABLE %s " + columns + aria, "", ""}, // which flushes at the end of each statement
			{"CREATE TABLE %s " + columns + aria + " TRANSACTIONAL = 0", "", `engine "Aria without TRANSACTIONAL"`},
			{"CREATE TABLE %s " + columns + " ENGINE = InnoDB", "sql_mode='ANSI'", ""},
			{"CREATE TABLE %s " + columns + " ENGINE = MEMORY", "sql_mode='ANSI'", "engine MEMORY"},
		},
		"postgres": {
			{"CREATE UNLOGGED TABLE %s " + columns, "", "table UNLOGGED"},
			{strings.ReplaceAll(partitioned, "%[2]s", ""), "", ""},
			{strings.ReplaceAll(partitioned, "%[2]s", "UNLOGGED"), "", "table UNLOGGED"},
			{"CREATE TABLE %s " + columns, "synchronous_commit=off", "synchronous_commit off"},
			{"CREATE TABLE %s " + columns, "synchronous_commit=remote_write", ""},
		},
		"sqlite": {
			{"CREATE TABLE %s " + columns, "_synchronous=0&_pragma=synchronous(0)", "synchronous 0"},
			{"CREATE TABLE %s " + columns, "_journal_mode=wal&_synchronous=2&_pragma=journal_mode(wal)&_pragma=synchronous(2)", ""},
			{"CREATE TABLE %s " + columns, "_journal_mode=wal&_synchronous=1&_pragma=journal_mode(wal)&_pragma=synchronous(1)", `synchronous "NORMAL in WAL mode"`},
			{"CREATE TABLE %s " + columns, "_synchronous=1&_pragma=synchronous(1)", ""},
			{"CREATE TABLE %s " + columns, "_journal_mode=memory&_pragma=journal_mode(memory)", "journal_mode memory"},
			{"CREATE TABLE %s " + columns, "_journal_mode=off&_pragma=journal_mode(off)", "journal_mode off"},
		},
	} {
		for _, row := range rows {
			t.Run(fmt.Sprint(kind, " ", row.option, " ", row.want), func(t *testing.T) {
				s := dbtest.New(t, kind)
				if strings.Contains(row.table, aria) && !s.MariaDB(t) {
					return
				}
				url := s.Plain()
				if row.option != "" {
					url = (&dbtest.Store{URL: url}).With(row.option)
				}
				for statement := range strings.SplitSeq(row.table, "; ") {
					s.Exec(t, "%s", fmt.Sprintf(statement+"%[2]s", s.Table, ""))
				}
				want := []string{row.want}
				wantRisks(t, s.Open(t, url), s.Table, slices.DeleteFunc(want, func(s string) bool { return s == "" })...)
			})
		}
	}
	wantRisks(t, dbtest.At(t, "sqlite", ":memory:").DB, "leaf_alloc") // which nothing outlives, as everybody knows
}
