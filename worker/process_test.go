package worker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/atonce"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
)

// childVariable has an assigner, a table, a URL and perhaps the table beside it, a line each.
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
	kind := slices.IndexFunc(all, func(a assigner) bool { return a.name == lines[0] })
	opts := []option{worker.StoreConfig{Table: lines[1]}}
	if len(lines) > 3 {
		opts = append(opts, worker.StoreConfig{Beside: lines[3]})
	}
	a := all[kind].open(db, opts)
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

// Processes that start at once, on a database without the table, all get numbers
// and ids of their own.
func TestProcesses(t *testing.T) {
	each(t, all, func(t *testing.T, s *store) {
		const processes = 6
		printed := atonce.Run(t, atonce.Self(t, processes, childVariable, s.name+"\n"+s.Table+"\n"+s.URL)...)
		var numbers []int64
		ids := map[int64]bool{}
		for _, words := range printed {
			for i, word := range words {
				n, err := strconv.ParseInt(word, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				if i%(1+childIDs) == 0 {
					numbers = append(numbers, n)
				} else {
					ids[n] = true
				}
			}
		}
		slices.Sort(numbers)
		if n := len(slices.Compact(slices.Clone(numbers))); n != processes*childNumbers {
			t.Errorf("numbers %v: want %d different ones", numbers, processes*childNumbers)
		}
		if len(ids) != processes*childNumbers*childIDs {
			t.Errorf("%d different ids, want %d", len(ids), processes*childNumbers*childIDs)
		}
		wantNumbers(t, s, numbers...)
	})
}
