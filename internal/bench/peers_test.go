package bench

import (
	"strings"
	"sync"
	"testing"
)

// Few enough for the slowest, which makes 256 in 10 ms, and more than it makes
// in one go.
const sample = 2000

func TestIDsAreDistinct(t *testing.T) {
	const goroutines = 4
	for _, impl := range append(All(), Batches()...) {
		if impl.Kind == Yardstick {
			continue
		}
		t.Run(impl.Package, func(t *testing.T) {
			t.Parallel()
			in := open(t, impl)
			var (
				made [goroutines][]any
				wg   sync.WaitGroup
			)
			for g := range made {
				wg.Go(func() {
					for range sample / goroutines {
						id, err := in.One()
						if err != nil {
							t.Error(err)
							return
						}
						made[g] = append(made[g], id)
					}
				})
			}
			wg.Wait()
			seen := make(map[any]bool, sample)
			for _, ids := range made {
				for _, id := range ids {
					if seen[id] {
						t.Fatalf("%v was made twice", id)
					}
					seen[id] = true
				}
			}
		})
	}
}

// The loop that is measured has to make ids, as many as it is told to.
func TestBatchMakesIDs(t *testing.T) {
	for _, impl := range append(All(), Batches()...) {
		t.Run(impl.Package, func(t *testing.T) {
			t.Parallel()
			in := open(t, impl)
			if _, err := in.Batch(100); err != nil {
				t.Fatal(err)
			}
			for _, goroutines := range []int{1, 3} {
				if _, err := Fan(in.Batch, goroutines, 100); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestTableIsComplete(t *testing.T) {
	names := make(map[string]bool)
	for _, impl := range All() {
		if impl.Name == "" || strings.ContainsAny(impl.Name, " /=\t") {
			t.Errorf("%q is no value for a benchmark's name", impl.Name)
		}
		if names[impl.Name] {
			t.Errorf("%s is there twice", impl.Name)
		}
		names[impl.Name] = true
		if found, ok := Find(impl.Name); !ok || found.Package != impl.Package {
			t.Errorf("Find(%s) = %s, %t", impl.Name, found.Package, ok)
		}
		for field, text := range map[string]string{
			"Package": impl.Package, "Cap": impl.Cap, "GivesUp": impl.GivesUp,
		} {
			if text == "" {
				t.Errorf("%s has no %s", impl.Name, field)
			}
			if strings.ContainsAny(text+impl.Setup, "|\n") {
				t.Errorf("%s: %s would break a cell of a table", impl.Name, field)
			}
		}
		if impl.Kind == Peer && !impl.ReadsClock && !strings.Contains(impl.GivesUp, "time") {
			t.Errorf("%s reads no clock, but its GivesUp does not say that it has no time", impl.Name)
		}
	}
	if _, ok := Find("no such row"); ok {
		t.Error("Find found what is not there")
	}
}

func open(t *testing.T, impl Impl) *Instance {
	t.Helper()
	in, err := impl.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Stop(); err != nil {
			t.Error(err)
		}
	})
	return in
}
