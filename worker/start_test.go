package worker_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/uidring/uidring/internal/processes"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
)

// childVariable has an assigner, a prefix and a URL, a line each.
const childVariable = "UIDRING_TEST_CHILD"

// Of each child.
const (
	childNumbers = 3
	childIDs     = 50
)

// child is one of several processes that start at once. It prints the numbers
// that it gets, each followed by ids, and ends without giving them back.
func child(value string, start func()) (err error) {
	lines := strings.Split(value, "\n")
	db, err := dbtest.Open(lines[2])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dbtest.Close(db)) }()
	kind := slices.IndexFunc(tables, func(a assigner) bool { return a.name == lines[0] })
	a := tables[kind].open(db, []option{worker.StoreConfig{Prefix: lines[1]}})
	start()
	for range childNumbers {
		gen, err := uid.NewCached(context.Background(), a, uid.CachedConfig{})
		if err != nil {
			return err
		}
		fmt.Println(gen.Worker())
		for range childIDs {
			id, err := gen.Next()
			if err != nil {
				return err
			}
			fmt.Println(int64(id))
		}
	}
	return nil
}

// children returns commands of n children.
func (s *store) children(t *testing.T, a assigner, n int) []*exec.Cmd {
	return processes.Self(t, n, childVariable, a.name+"\n"+s.prefix+"\n"+s.URL)
}

// differ fails unless all numbers and all ids that children printed differ. It returns both.
func differ(t *testing.T, printed [][]string) (numbers, ids map[int64]bool) {
	t.Helper()
	numbers, ids = map[int64]bool{}, map[int64]bool{}
	for _, words := range printed {
		for i, word := range words {
			n, err := strconv.ParseInt(word, 10, 64)
			need.Must(t, err)
			if i%(1+childIDs) == 0 {
				numbers[n] = true
			} else {
				ids[n] = true
			}
		}
	}
	if want := len(printed) * childNumbers; len(numbers) != want || len(ids) != want*childIDs {
		t.Errorf("%d different numbers and %d different ids, want %d and %d", len(numbers), len(ids), want, want*childIDs)
	}
	return numbers, ids
}

// Processes that start at once, on a database without the table, all get numbers
// and ids of their own.
func TestProcesses(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		numbers, _ := differ(t, processes.Run(t, s.children(t, s.assigner, 6)...))
		s.have(t, slices.Sorted(maps.Keys(numbers)))
	})
}

// A service goes from a Registry to a Leaser, process by process: ids of all its processes differ.
func TestRollingChange(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		before := []int64{assign(t, s.kind(aRegistry, s.DB)), s.draw(t), s.draw(t), s.draw(t)}
		numbers, _ := differ(t, processes.Run(t, slices.Concat(s.children(t, registry, 3), s.children(t, leaser, 3))...))
		for _, number := range before {
			if numbers[number] {
				t.Errorf("number %d of a process that had started before is given again", number)
			}
		}
	})
}

func TestCancelled(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		s.create(t)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := take(t, ctx, s.on(s.DB), max22)
		s.wantFrom(t, ctx, s.DB, context.Canceled, err)
		wantNumbers(t, s)
	})
}

// If the database stops answering, a start ends with its context, at any step. It keeps
// nobody from the table.
func TestHangsAtStart(t *testing.T) {
	each(t, tables, func(t *testing.T, s *store) {
		s.create(t)
		db, pool := s.Pooled(t)
		for point := range 30 {
			var sent atomic.Int64
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			pool.Set(dbtest.Faults{Statement: func(ctx context.Context, _ string) error {
				if sent.Add(1) > int64(point) {
					cancel() // the caller's patience ends here, however long it took
					<-ctx.Done()
				}
				return ctx.Err()
			}})
			_, err := take(t, ctx, s.on(db), max22)
			pool.Heal()
			if err == nil && point > 3 {
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("at statement %d: %v", point, err)
			}
			assign(t, s.on(s.DB))
		}
	})
}
