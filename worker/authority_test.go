package worker_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/processes"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
)

// pair is a Registry's table and a Leasers' table of one database.
type pair struct{ nodes, leases *store }

func eachPair(t *testing.T, test func(t *testing.T, p pair)) {
	t.Helper()
	each(t, registries, func(t *testing.T, s *store) {
		test(t, pair{s, &store{s.Another(t), leaser}})
	})
}

func (p pair) registry(t *testing.T) *worker.Registry {
	return p.nodes.registry(p.nodes.Open(t, p.nodes.URL), worker.StoreConfig{RegistryTable: p.leases.Table})
}

func (p pair) leaser(t *testing.T, opts ...option) leaserOn {
	return p.leases.leaser(p.leases.Open(t, p.leases.URL), append(opts, worker.StoreConfig{RegistryTable: p.nodes.Table})...)
}

// insert registers as a Registry does that knows of no Leasers: another language's, or an
// older version's. It returns the number.
func (p pair) insert(t *testing.T) int64 {
	t.Helper()
	return assign(t, p.nodes.registry(p.nodes.DB, worker.StoreConfig{NoOtherTable: true}))
}

// In whatever order Registries and Leasers start, also Registries that know of no Leasers,
// and whether or not those before them still run, no number is given twice.
func TestRegistryBesideLeaser(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		p.nodes.create(t)
		random := rand.New(rand.NewPCG(1, 2))
		seen := map[int64]string{}
		live := 0
		take := func(kind string, number int64) {
			t.Helper()
			if before, ok := seen[number]; ok {
				t.Fatalf("number %d: given to %s and to %s", number, before, kind)
			}
			seen[number] = kind
		}
		leases, registry := p.leaser(t), p.registry(t)
		for range 40 {
			switch random.IntN(4) {
			case 0:
				take("a Registry", assign(t, registry))
			case 1:
				take("an old Registry", p.insert(t))
			case 2:
				take("a Leaser", assign(t, leases))
				live++
			case 3: // a start that is rolled back leaves a gap in the keys
				err := p.nodes.DB.Transaction(func(tx *gorm.DB) error {
					return errors.Join(tx.Exec("INSERT INTO "+p.nodes.Table+" (host_name, port, type, launch_date, modified, created) "+
						"VALUES ('h', 'p', 1, CURRENT_DATE, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP)").Error, errAnswer)
				})
				if err.Error() != errAnswer.Error() {
					t.Fatal(err)
				}
			}
		}
		if live == 0 || live == len(seen) {
			t.Fatalf("%d of %d starts were Leasers': the test shows nothing", live, len(seen))
		}
		// A number that is given back is taken again, though the Registry's table has it.
		h := holdertest.Take(t, leases, max22)
		release(t, h, time.Now().Add(-time.Hour))
		if again := assign(t, leases); again != h.Last().Number {
			t.Errorf("number %d was given back, and the next Leaser got %d", h.Last().Number, again)
		}
	})
}

// A service goes from a Registry to a Leaser, process by process, and halfway back: ids of
// all its processes differ.
func TestRollingChange(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		p.nodes.create(t)
		for range 3 {
			p.insert(t)
		}
		of := func(kind string, s, beside *store) string {
			return kind + "\n" + s.Table + "\n" + s.URL + "\n" + beside.Table
		}
		registries := processes.Self(t, 3, childVariable, of("registry", p.nodes, p.leases))
		leasers := processes.Self(t, 3, childVariable, of("leaser", p.leases, p.nodes))
		for _, number := range differ(t, processes.Run(t, slices.Concat(registries, leasers)...)) {
			if 0 < number && number <= 3 {
				t.Errorf("number %d of a process that had started before is given again", number)
			}
		}
	})
}

// Leasers of several stores draw keys at once, each from a connection of its own, where
// the server skips keys.
func TestDrawnAtOnce(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		p.nodes.create(t)
		url := p.leases.URL
		if p.leases.Kind == "mysql" {
			url = p.leases.With("auto_increment_increment=7")
		}
		numbers := make([]int64, 4*3)
		var starts sync.WaitGroup
		for i := range 4 {
			leases := p.leases.leaser(p.leases.Open(t, url), worker.StoreConfig{RegistryTable: p.nodes.Table})
			starts.Go(func() {
				for j := range 3 {
					var err error
					if numbers[3*i+j], err = take(t, context.Background(), leases, max22); err != nil {
						t.Error(err)
					}
				}
			})
		}
		starts.Wait()
		slices.Sort(numbers)
		if n := len(slices.Compact(slices.Clone(numbers))); n != 12 {
			t.Errorf("numbers %v: want 12 different ones", numbers)
		}
		drawn := p.nodes.numbers(t)
		for _, number := range numbers {
			if !slices.Contains(drawn, number) {
				t.Errorf("number %d has no row in the Registry's table", number)
			}
		}
	})
}

// Tables that filled without knowing of each other: a Leaser takes none of the numbers
// that a Registry gave, and a Registry none that Leasers have.
func TestMixedBefore(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		alone := p.leases.leaser(p.leases.DB, worker.StoreConfig{NoOtherTable: true})
		for range 4 { // 0 to 3
			holdertest.Take(t, alone, max22)
		}
		p.leases.Exec(t, "DELETE FROM %s WHERE worker_id = 2", p.leases.Table) // of a live holder
		p.nodes.create(t)
		registry := p.registry(t)
		p.insert(t) // 1
		if number := assign(t, registry); number != 4 {
			t.Errorf("a Registry got %d, want 4: Leasers hold 0 to 3", number)
		}
		if number := assign(t, p.leaser(t)); number != 5 {
			t.Errorf("a new number is %d, want 5, above both tables", number)
		}
	})
}

// A free number that a Registry gave is not offered to a Leaser, and refused to one that
// can have no other.
func TestGivenToRegistry(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		alone := p.leases.leaser(p.leases.DB, worker.StoreConfig{NoOtherTable: true})
		release(t, holdertest.Take(t, alone, 0), time.Now().Add(-time.Hour))
		h := holdertest.Take(t, p.leases.leaser(p.leases.DB, worker.StoreConfig{NoOtherTable: true}, lease.Config{Assigner: uid.NewStaticWorker(1)}), max22)
		release(t, h, time.Now().Add(-time.Hour))
		p.nodes.create(t)
		p.insert(t) // 1
		if got := assign(t, p.leaser(t)); got != 0 {
			t.Errorf("a Leaser got %d, want 0", got)
		}
		if got := assign(t, p.leaser(t)); got != 2 {
			t.Errorf("a Leaser got %d, want 2: a Registry gave 1", got)
		}
		p.insert(t)                       // 3
		for _, n := range []int64{1, 3} { // which has a row, which has none
			_, err := try(t, p.leaser(t, lease.Config{Assigner: uid.NewStaticWorker(n)}), max22)
			if !errors.Is(err, worker.ErrMixed) {
				t.Fatalf("number %d: %v, want ErrMixed", n, err)
			}
			wantAll(t, err, p.nodes.Table, p.leases.Table, fmt.Sprint(n), "NoOtherTable")
		}
		if _, err := try(t, p.leaser(t, lease.Config{Numbers: &lease.Range{From: 3, To: 600}}), max22); !errors.Is(err, worker.ErrMixed) {
			t.Errorf("a range near the Registry's keys: %v, want ErrMixed", err)
		}
		high := p.leaser(t, lease.Config{Numbers: &lease.Range{From: 4, To: 600}})
		if got := assign(t, high); got != 4 {
			t.Errorf("a range above the Registry's keys gave %d, want 4", got)
		}
		if got := assign(t, high); got != 5 {
			t.Errorf("the range gave %d, want 5", got)
		}
		p.nodes.setNext(t, 4)
		p.leases.Exec(t, "DELETE FROM %s WHERE worker_id = 5", p.leases.Table)
		if got := assign(t, p.registry(t)); got != 6 {
			t.Errorf("a Registry got %d, want 6, which the range did not give yet", got)
		}
	})
}

// A Registry used all numbers. The error has the steps by which Leasers use them again.
func TestMixedExhausted(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		p.nodes.create(t)
		p.nodes.setNext(t, 7)
		p.insert(t) // the last of 3 bits
		_, err := try(t, p.leaser(t), 7)
		if !errors.Is(err, lease.ErrExhausted) {
			t.Fatalf("%v, want ErrExhausted", err)
		}
		wantAll(t, err, p.nodes.Table, "up to 7", "stop every process", "rename both")
		p.nodes.Exec(t, "DROP TABLE %s", p.nodes.Table)
		if _, err := try(t, p.leaser(t), 7); !errors.Is(err, worker.ErrMixed) {
			t.Errorf("a Registry's table that is gone: %v, want ErrMixed", err)
		}
		p.leases.Exec(t, "DROP TABLE %s", p.leases.Table)
		if got := assign(t, p.leases.leaser(p.leases.DB, worker.StoreConfig{RegistryTable: p.nodes.Table})); got != 0 {
			t.Errorf("number %d after the steps, want 0", got)
		}
	})
}

// Only tables with the default names belong to each other by themselves.
func TestBesideNames(t *testing.T) {
	s := newSQLite(t)
	need.Must(t, worker.NewRegistry(s.DB, worker.RegistryConfig{}).EnsureSchema(t.Context()))
	assign(t, worker.NewRegistry(s.DB, worker.RegistryConfig{}))
	for _, test := range []struct {
		config worker.StoreConfig
		want   int64
	}{
		{worker.StoreConfig{}, 2},
		{worker.StoreConfig{Table: "other"}, 0},
		{worker.StoreConfig{Table: "main.WORKER_LEASE"}, 3},
		{worker.StoreConfig{Table: "third", RegistryTable: "WORKER_NODE"}, 4},
	} {
		if got := assign(t, lease.New(worker.NewStore(s.DB, test.config), lease.Config{})); got != test.want {
			t.Errorf("%+v: number %d, want %d", test.config, got, test.want)
		}
	}
	if _, err := try(t, lease.New(worker.NewStore(s.DB, worker.StoreConfig{NoOtherTable: true}), lease.Config{}), max22); !errors.Is(err, worker.ErrMixed) {
		t.Errorf("NoOtherTable where a Registry has started: %v, want ErrMixed", err)
	}
	wantAll(t, worker.NewStore(s.DB, worker.StoreConfig{RegistryTable: "a b", NoOtherTable: true}).Check(), `RegistryTable is "a b", want a table's name`, `RegistryTable is "a b", want none`)
}

// A Registry's table whose key admits no row below 1 is used all the same, with a warning.
func TestLayoutWithoutRow(t *testing.T) {
	on(t, servers, registries, func(t *testing.T, s *store) {
		key := "BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY"
		if s.Kind == "postgres" {
			key = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
		}
		s.createLike(t, key)
		out := new(logged.Text)
		request := lease.Request{Limit: max22, Clock: time.Now, Granted: func(lease.Grant) {}, Layout: "L"}
		for range 2 {
			if _, err := s.on(s.DB, logTo(out.Logger())).Lease(t.Context(), request); err != nil {
				t.Fatal(err)
			}
		}
		wantAll(t, errors.New(out.String()), "cannot remember the layout", s.Table)
		wantNumbers(t, s, 1, 2)
	})
}
