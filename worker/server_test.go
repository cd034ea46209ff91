package worker_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
)

// isolations are the options of the driver's that set a level of isolation, by its
// name, or that have the server skip keys.
func (s *store) isolations(t *testing.T) map[string]string {
	t.Helper()
	levels := []string{"READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}
	options := map[string]string{"DEFAULT": ""}
	switch s.Kind {
	case "postgres":
		for _, level := range levels {
			options[level] = "default_transaction_isolation=" + url.PathEscape(strings.ToLower(level))
		}
	case "mysql":
		has := func(variable string) bool { return s.DB.Exec("SELECT @@"+variable).Error == nil }
		variable := "tx_isolation" // MariaDB's, and MySQL's before 8.0
		if has("transaction_isolation") {
			variable = "transaction_isolation"
		}
		for _, level := range levels {
			options[level] = variable + "=" + url.QueryEscape("'"+strings.ReplaceAll(level, " ", "-")+"'")
		}
		if has("innodb_snapshot_isolation") { // which MariaDB 11.6 has on by default
			options["SNAPSHOT"] = options["REPEATABLE READ"] + "&innodb_snapshot_isolation=ON"
		}
		options["STEPS"] = "auto_increment_increment=7"
	}
	return options
}

// At whatever level of isolation a server runs, and where it skips keys: Registries and Leasers that start at once, where there
// is no table, get numbers of their own, and leases are renewed while others start.
func TestIsolation(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		for level, option := range s.isolations(t) {
			t.Run(level, func(t *testing.T) {
				t.Parallel()
				s := s.another(t)
				const starters = 24
				db := s.Open(t, s.With(option))
				numbers := make([]int64, starters)
				holdertest.Together(starters, func(i int) {
					kind := []string{aLeaser, aRegistry}[i%2]
					h, err := try(t, s.kind(kind, db), max22)
					if err != nil {
						t.Error(err)
						return
					}
					numbers[i] = h.Last().Number
					for kind == aLeaser && len(h.History()) < 4 {
						h.Renew(t)
					}
					h.Kept(t)
				})
				slices.Sort(numbers)
				if len(slices.Compact(numbers)) != starters {
					t.Errorf("numbers repeat: %v", numbers)
				}
			})
		}
	})
}

// A row that another transaction has changed and may yet change back is not looked
// at, though the session would have it so: its holder waits.
func TestUncommittedChange(t *testing.T) {
	on(t, servers, leasers, func(t *testing.T, s *store) {
		db := s.Open(t, s.With(s.isolations(t)["READ UNCOMMITTED"]))
		h := holdertest.Take(t, s.leaser(db, quickly, quiet), 1)
		tx := begin(t, s.DB)
		need.Must(t, tx.Exec("UPDATE "+s.Table+" SET token = 'another', reserved_until = 1, heartbeat_at = 0").Error)
		h.Await(t, "the holder waits too long", func(g lease.Grant) bool { return g.Err != nil })
		_, err := try(t, s.leaser(db), 1)
		need.Error(t, err, lease.ErrExhausted)
		need.Must(t, tx.Rollback().Error)
		until := h.Last().Until
		h.Await(t, "it is renewed", func(g lease.Grant) bool { return g.Until.After(until) && g.Err == nil })
		h.Kept(t)
	})
}

// Multi-primary servers count in steps, which costs numbers, with a warning.
func TestSteps(t *testing.T) {
	on(t, []string{"mysql"}, tables, func(t *testing.T, s *store) {
		var out logged.Text
		a := s.on(s.Open(t, s.With("auto_increment_increment=3&auto_increment_offset=2")), logTo(out.Logger()))
		first, second, third := assign(t, a), assign(t, a), assign(t, a)
		if second-first != 3 || third-second != 3 || out.Count("level=WARN", "step=3") != 3 {
			t.Errorf("numbers %d, %d, %d, and logged %s", first, second, third, &out)
		}
	})
}

// A server that drops the row without a word gives no number either. MySQL has no
// way to do that.
func TestIgnoredByServer(t *testing.T) {
	on(t, []string{"sqlite", "postgres"}, tables, func(t *testing.T, s *store) {
		const numbers = "WHEN (NEW.worker_id >= 0)" // the rows of numbers, but not their count
		type ignored struct {
			when   string
			config lease.Config
		}
		all := []ignored{{"", lease.Config{}}}
		if s.name == "leaser" {
			part := lease.Config{Numbers: &lease.Range{From: 5, To: 500}}
			all = append(all, ignored{numbers, lease.Config{}}, ignored{"", part}, ignored{numbers, part})
		}
		for _, of := range all {
			s := s.another(t)
			s.create(t)
			switch s.Kind {
			case "postgres":
				s.Exec(t, `CREATE FUNCTION %s_no() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`, s.Table)
				defer s.Exec(t, "DROP FUNCTION %s_no CASCADE", s.Table)
				s.Exec(t, "CREATE TRIGGER no BEFORE INSERT ON %s FOR EACH ROW %s EXECUTE FUNCTION %[1]s_no()", s.Table, of.when)
			case "sqlite":
				s.Exec(t, "CREATE TRIGGER %s_no BEFORE INSERT ON %[1]s %s BEGIN SELECT RAISE(IGNORE); END", s.Table, of.when)
			}
			_, err := take(t, t.Context(), s.on(s.DB, of.config), max22)
			if s.name == "leaser" {
				need.Error(t, err, nil, "did not write", s.Table)
			} else {
				need.Error(t, err, worker.ErrKey)
			}
			wantNumbers(t, s)
		}
	})
}

// A server that takes back what a start writes into a free row gives no number.
func TestUndoneByServer(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		h, err := try(t, s.on(s.DB), max22)
		need.Must(t, err)
		release(t, h, time.Now())
		switch s.Kind {
		case "mysql":
			s.Exec(t, "CREATE TRIGGER %s_no BEFORE UPDATE ON %[1]s FOR EACH ROW SET NEW.token = OLD.token", s.Table)
		case "postgres":
			s.Exec(t, `CREATE FUNCTION %s_no() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END'`, s.Table)
			defer s.Exec(t, "DROP FUNCTION %s_no CASCADE", s.Table)
			s.Exec(t, "CREATE TRIGGER no BEFORE UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION %[1]s_no()", s.Table)
		case "sqlite":
			s.Exec(t, "CREATE TRIGGER %s_no AFTER UPDATE ON %[1]s BEGIN UPDATE %[1]s SET token = OLD.token WHERE worker_id = OLD.worker_id; END", s.Table)
		}
		_, err = take(t, t.Context(), s.on(s.DB), max22)
		need.Error(t, err, nil, "did not write", s.Table)
	})
}

// A session in which a statement does not commit by itself is refused.
func TestAutocommitOff(t *testing.T) {
	on(t, []string{"mysql"}, tables, func(t *testing.T, s *store) {
		for option, want := range map[string]string{"autocommit=0": "autocommit is OFF; want a DSN without autocommit", "completion_type=%27CHAIN%27": "completion_type is CHAIN"} {
			_, err := take(t, t.Context(), s.on(s.Open(t, s.With(option))), max22)
			need.Error(t, err, worker.ErrDB, want)
		}
	})
}
