package worker_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker/lease"
)

const max22 = 1<<22 - 1 // the largest worker number of bits.Registry

var node = lease.Node{Host: "billing-7", Port: "8080", Type: lease.NodeActual}

// servers are the kinds of database that are servers.
var servers = []string{"mysql", "postgres"}

func TestMain(m *testing.M) {
	dbtest.Parallel(8)
	// GORM never ends the goroutine that it starts for PrepareStmt.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("gorm.io/gorm/internal/lru.NewLRU[...].func1"))
}

// store is an assigner under test, on a database under test, with tables of the
// test's own. Table is the one in which the assigner has its numbers.
type store struct {
	*dbtest.Store
	assigner
	prefix string // of both tables
}

func newStore(t testing.TB, kind string, a assigner) *store {
	return prefixed(t, dbtest.New(t, kind), a)
}

// prefixed returns the assigner on tables whose prefix is the name that s has.
func prefixed(t testing.TB, s *dbtest.Store, a assigner) *store {
	prefix := s.Table + "_"
	s.Table = prefix + a.table
	t.Cleanup(func() {
		for _, kind := range tables {
			s.Exec(t, "DROP TABLE IF EXISTS %s", prefix+kind.table)
		}
	})
	return &store{s, a, prefix}
}

// another returns other tables in the same database.
func (s *store) another(t *testing.T) *store { return prefixed(t, s.Another(t), s.assigner) }

// as returns another assigner on the same tables.
func (s *store) as(a assigner) *store {
	other := *s.Store
	other.Table = s.prefix + a.table
	return &store{&other, a, s.prefix}
}

// each runs a test over some assigners on every database.
func each(t *testing.T, assigners []assigner, test func(t *testing.T, s *store)) {
	t.Helper()
	on(t, dbtest.Kinds, assigners, test)
}

// on runs a test over some assigners on databases of some kinds, all at once.
func on(t *testing.T, kinds []string, assigners []assigner, test func(t *testing.T, s *store)) {
	t.Helper()
	t.Parallel() // most of the time is spent waiting for a server, or for a lease to expire
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			for _, a := range assigners {
				t.Run(a.name, func(t *testing.T) {
					t.Parallel()
					test(t, newStore(t, kind, a))
				})
			}
		})
	}
}

// create makes the tables that the assigner needs, empty, with the statements that are printed.
func (s *store) create(t testing.TB) {
	t.Helper()
	text, err := s.on(s.DB).Schema()
	need.Must(t, err)
	for statement := range strings.SplitSeq(text, ";\n") {
		s.Exec(t, "%s", statement)
	}
}

// elsewhere opens sessions in a time zone far away, on which no time depends.
func (s *store) elsewhere(t *testing.T) *gorm.DB {
	url := s.URL
	switch s.Kind {
	case "mysql":
		url = s.With("time_zone=%27-11%3A30%27")
	case "postgres":
		url = s.With("timezone=Pacific/Kiritimati")
	}
	return s.Open(t, url)
}

// numbers returns the numbers that have a row, in ascending order.
func (s *store) numbers(t *testing.T) []int64 {
	t.Helper()
	numbers := []int64{}
	query := fmt.Sprintf("SELECT %s FROM %s WHERE %[1]s > -1 ORDER BY 1", s.key, s.Table)
	need.Must(t, s.DB.Raw(query).Scan(&numbers).Error)
	return numbers
}

func wantNumbers(t *testing.T, s *store, want ...int64) {
	t.Helper()
	if got := s.numbers(t); !slices.Equal(got, want) {
		t.Errorf("the table has rows %v, want %v", got, want)
	}
}
