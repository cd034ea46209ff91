package worker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// begin starts a generator with a layout of this package's ids, and ends it.
func (s *store) begin(t *testing.T, kind string, db *gorm.DB, layout bits.Layout) error {
	t.Helper()
	gen, err := uid.NewCached(t.Context(), s.kind(kind, db), uid.CachedConfig{Layout: layout, Logger: silent})
	if err != nil {
		return err
	}
	return gen.Close()
}

// The record is one row with dates in the future. It says which layout ids have, since when, and how numbers are taken.
func TestRecord(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		for kind, want := range map[string]int{aRegistry: 3, aLeaser: 3, aRange: 4, anOrdinal: 4} {
			s := s.another(t)
			need.Must(t, s.begin(t, kind, s.elsewhere(t), bits.Fleet()))
			node := s.as(registry)
			var is struct {
				Host string
				Port string
				Type int
			}
			need.Must(t, s.DB.Raw("SELECT host_name AS host, port AS port, type AS type FROM "+s.prefix+"WORKER_NODE WHERE id = -1 "+
				"AND launch_date >= '2037-12-30' AND modified > '2037-12-30' AND created > '2037-12-30'").Scan(&is).Error)
			if text := "31/16/16,epoch=2026-01-01,unit=1s,since=" + time.Now().UTC().Format(time.DateOnly); is.Host != text || is.Port != "-" || is.Type != want {
				t.Errorf("%s: the record is %+v, want %s and TYPE %d", kind, is, text, want)
			}
			// A job that deletes old rows leaves it.
			node.Exec(t, "DELETE FROM %s WHERE created < '2030-01-01' OR launch_date < '2030-01-01' OR modified < '2030-01-01'", node.Table)
			need.Error(t, s.begin(t, kind, s.DB, bits.LongLived()), lease.ErrLayout)
		}
	})
}

// A record that is gone beside leases stops every start. The error has the statement that makes it again, which works as
// it is printed but for the layout.
func TestRecordIsGone(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		for kind, others := range map[string][]string{aLeaser: {aLeaser, aRegistry, aRange}, aRange: {aRange, anOrdinal, aRegistry}} {
			s := s.another(t)
			h := holdertest.Take(t, s.kind(kind, s.DB).(leaserOn), max22)
			node := s.as(registry)
			node.Exec(t, "DELETE FROM %s", node.Table)
			var gone error
			for _, other := range others {
				gone = s.begin(t, other, s.DB, bits.Layout{})
				need.Error(t, gone, worker.ErrMixed, "row -1 of "+node.Table, "is gone", "uidring workers raise", "INSERT INTO "+node.Table)
			}
			_, statement, _ := strings.Cut(fmt.Sprint(gone), "start: ")
			statement, _, _ = strings.Cut(statement, ", where TYPE")
			s.Exec(t, "%s", strings.Replace(statement, "LAYOUT", holdertest.Layout, 1))
			if kind == aLeaser {
				need.Must(t, s.leaser(s.DB).Raise(t.Context(), h.Last().Number))
			}
			if n := assign(t, s.kind(kind, s.DB)); n == h.Last().Number {
				t.Errorf("number %d is given twice", n)
			}
		}
	})
}

// WORKER_NODE alone, as Java leaves it, is a table whose numbers are drawn, though its rows were deleted.
func TestTableOfJava(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		for _, pruned := range []bool{false, true} {
			for _, kind := range []string{aLeaser, aRegistry, aRange, anOrdinal} {
				s := s.another(t)
				node := s.as(registry)
				node.create(t)
				last := s.draw(t)
				if pruned {
					node.Exec(t, "DELETE FROM %s", node.Table)
				}
				number, err := take(t, t.Context(), s.kind(kind, s.DB), max22)
				if chooses(kind) {
					wantKind(t, err, false)
				} else if err != nil || number <= last {
					t.Errorf("%s: number %d, %v; want one above %d", kind, number, err, last)
				}
			}
		}
	})
}

// Numbers are drawn, or configs choose them. The first start decides, and the error of another names both ways out.
func TestDrawnOrDivided(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		for _, before := range []string{aRegistry, aLeaser, aRange, anOrdinal} {
			s := s.another(t)
			need.Must(t, s.begin(t, before, s.DB, bits.Layout{}))
			for _, kind := range []string{aRegistry, aLeaser, aRange, anOrdinal} {
				err := s.begin(t, kind, s.DB, bits.Layout{})
				if chooses(kind) == chooses(before) {
					need.Must(t, err)
					continue
				}
				wantKind(t, err, chooses(before))
				if _, err := s.registry(s.DB).Assign(t.Context(), max22); chooses(before) {
					wantKind(t, err, true)
					wantNumbers(t, s.as(registry))
				}
				need.Error(t, err, nil, "row -1 of "+s.prefix+"WORKER_NODE", "since "+time.Now().UTC().Format(time.DateOnly), "Numbers", "Assigner", "Prefix")
			}
		}
	})
}

// A start that chooses its numbers is refused if another program has drawn one of them, and warned if it has drawn any.
func TestForeignKeyWhereConfigsChoose(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		assign(t, s.kind(anOrdinal, s.DB)) // number 1
		s.draw(t)                          // key 1
		for i, kind := range []string{aRange, anOrdinal, aRange} {
			if i == 2 { // the counter shows the key too
				s.Exec(t, "DELETE FROM %s WHERE id = 1", s.prefix+"WORKER_NODE")
			}
			_, err := try(t, s.kind(kind, s.DB), max22)
			need.Error(t, err, worker.ErrMixed, s.prefix+"WORKER_NODE", "another program has drawn keys", "such as 1;")
		}
		out := new(logged.Text)
		s.draw(t)
		assign(t, s.leaser(s.DB, logTo(out.Logger()), lease.Config{Numbers: &lease.Range{From: 3, To: 9}}))
		if out.Count("another program draws numbers", "keys=1") != 1 {
			t.Errorf("logged %s", out)
		}
		late := s.another(t) // a key is drawn after the first look
		rows, terms := late.leaser(late.DB), leasestore.Terms{Layout: holdertest.Layout, Chosen: true, Within: leasestore.Range{From: 1, To: 9}}
		need.Must(t, rows.EnsureSchema(t.Context()))
		layout, err := rows.SwapLayout(t.Context(), "", terms)
		need.Must(t, err)
		late.draw(t)
		_, err = rows.SwapLayout(t.Context(), layout, terms)
		need.Error(t, err, worker.ErrMixed)
	})
}

// The record is changed or lost while a start is stopped, before or after it has taken a number. A start uses no
// number under a layout that the record has not, and waits for a record that is gone.
func TestRecordChangesMeanwhile(t *testing.T) {
	need.Time(t)
	for _, kind := range []string{aRegistry, aLeaser, aRange, anOrdinal} {
		t.Run(kind, func(t *testing.T) {
			each(t, leasers, func(t *testing.T, s *store) {
				for point := 1; ; point++ {
					s := s.another(t)
					need.Must(t, s.begin(t, kind, s.DB, bits.Fleet()))
					db, pool := s.Pooled(t)
					sent, last := 0, 0
					pool.Set(dbtest.Faults{Statement: func(_ context.Context, query string) error {
						sent++
						if strings.Contains(query, "host_name") && strings.Contains(query, "-1") && strings.HasPrefix(query, "SELECT") {
							last = sent
						}
						if sent == point {
							s.Exec(t, "UPDATE %s SET host_name = 'another' WHERE id = -1", s.prefix+"WORKER_NODE")
						}
						return nil
					}})
					err := s.begin(t, kind, db, bits.Fleet())
					if sent < point { // the start is shorter
						return
					}
					if late := point > last; late && err != nil || !late && !errors.Is(err, lease.ErrLayout) {
						t.Errorf("%s: the record is changed before statement %d of %d, and was read last by number %d: %v", kind, point, sent, last, err)
					}
				}
			})
		})
	}
}

// Tables whose key cannot keep the record, or count, are refused at the start with the statement that mends them.
func TestOddTables(t *testing.T) {
	for name, tt := range map[string]struct {
		kind, key string
		want      error
		advice    string // "" is that the table is good
	}{
		"UNSIGNED":          {"mysql", "BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY", worker.ErrKey, "MODIFY ID BIGINT NOT NULL AUTO_INCREMENT"},
		"INT":               {"mysql", "INT NOT NULL AUTO_INCREMENT PRIMARY KEY", nil, ""},
		"GENERATED ALWAYS":  {"postgres", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", worker.ErrKey, "SET GENERATED BY DEFAULT"},
		"BIGSERIAL":         {"postgres", "BIGSERIAL PRIMARY KEY", nil, ""},
		"not unique":        {"postgres", "BIGSERIAL", worker.ErrKey, "CREATE UNIQUE INDEX"},
		"index only":        {"mysql", "BIGINT NOT NULL AUTO_INCREMENT, KEY (ID)", worker.ErrKey, "CREATE UNIQUE INDEX"},
		"no AUTOINCREMENT":  {"sqlite", "INTEGER PRIMARY KEY", worker.ErrKey, "AUTOINCREMENT"},
		"with a constraint": {"postgres", "BIGSERIAL PRIMARY KEY CHECK (id > 0)", worker.ErrKey, "accepts -1"},
	} {
		t.Run(name, func(t *testing.T) {
			on(t, []string{tt.kind}, registries, func(t *testing.T, s *store) {
				for _, lax := range []string{"", "sql_mode=%27%27"} { // without strict mode, MySQL writes another key
					if lax != "" && tt.kind != "mysql" {
						continue
					}
					db := s.DB
					if lax != "" {
						db = s.Open(t, s.With(lax))
					}
					for _, kind := range []string{aRegistry, aLeaser, anOrdinal} {
						s := s.another(t)
						s.createLike(t, tt.key)
						err := s.begin(t, kind, db, bits.Layout{})
						if tt.want == nil {
							need.Must(t, err)
							continue
						}
						need.Error(t, err, tt.want, s.Table, tt.advice)
						wantNumbers(t, s)
					}
				}
			})
		})
	}
}

// The table of leases is that of the schema in which WORKER_NODE is, whatever else is on the search path.
func TestTwoSchemas(t *testing.T) {
	on(t, []string{"postgres"}, leasers, func(t *testing.T, s *store) {
		front := strings.ToLower(s.prefix) + "front"
		s.Exec(t, "CREATE SCHEMA %s", front)
		defer s.Exec(t, "DROP SCHEMA %s CASCADE", front)
		s.as(registry).create(t)
		db := s.Open(t, s.With("search_path="+front+",public"))
		for want, db := range []*gorm.DB{db, s.DB, db} {
			if got := assign(t, s.leaser(db)); got != int64(1+want) {
				t.Errorf("number %d, want %d", got, 1+want)
			}
		}
		var tables int64
		need.Must(t, s.DB.Raw("SELECT COUNT(*) FROM pg_tables WHERE schemaname = ?", front).Scan(&tables).Error)
		if rows, err := s.leaser(db).Leases(t.Context(), 0); tables != 0 || err != nil || len(rows) != 3 {
			t.Errorf("%d tables in the schema in front, and %d leases, %v; want none, and 3", tables, len(rows), err)
		}
	})
}

// Of two first starts at once, one decides, and both agree.
func TestFirstStartsAtOnce(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		for round, kinds := range [][2]string{{aRegistry, aLeaser}, {aLeaser, aLeaser}, {aLeaser, aRange}, {aRegistry, anOrdinal}, {aRange, anOrdinal}} {
			s := s.another(t)
			var errs [2]error
			var starts sync.WaitGroup
			for i, kind := range kinds {
				db := s.Open(t, s.URL)
				starts.Go(func() { errs[i] = s.begin(t, kind, db, []bits.Layout{bits.Fleet(), bits.LongLived()}[i]) })
			}
			starts.Wait()
			if (errs[0] == nil) == (errs[1] == nil) {
				t.Errorf("round %d: %v and %v, want one of them refused", round, errs[0], errs[1])
			}
			for _, err := range errs {
				if err != nil && !errors.Is(err, lease.ErrLayout) && !errors.Is(err, worker.ErrMixed) {
					t.Errorf("round %d: %v", round, err)
				}
			}
		}
	})
}

// Three sites with ranges restart whatever else was tried between.
func TestSitesRestart(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		for round := range int64(3) {
			for _, from := range []int64{1000, 2000, 3000} {
				if got := assign(t, s.leaser(s.DB, quiet, lease.Config{Numbers: &lease.Range{From: from, To: from + 999}})); got != from+round {
					t.Errorf("number %d, want %d", got, from+round)
				}
			}
			for _, kind := range []string{aRegistry, aLeaser} {
				wantKind(t, s.begin(t, kind, s.DB, bits.Layout{}), true)
			}
		}
	})
}

// The pods of a StatefulSet start on the empty tables that are printed, the lowest ordinals too.
func TestOrdinalsOnPrintedSchema(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		text, err := s.leaser(s.DB).Schema()
		need.Must(t, err)
		for statement := range strings.SplitSeq(text, ";\n") {
			s.Exec(t, "%s", statement)
		}
		for ordinal := range int64(10) {
			if got := assign(t, s.leaser(s.DB, quiet, worker.StoreConfig{NoSchema: true}, lease.Config{Assigner: lease.NewStatic(ordinal)})); got != ordinal {
				t.Errorf("number %d, want %d", got, ordinal)
			}
		}
	})
}
