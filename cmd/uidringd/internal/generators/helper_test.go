//go:build linux

package generators_test

import (
	"context"
	"log/slog"
	"testing"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/cmd/uidringd/internal/generators"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var silent = slog.New(slog.DiscardHandler)

func parse(t *testing.T, text string) *config.Config {
	t.Helper()
	c, err := config.Parse([]byte(text), config.Flags{})
	need.Must(t, err)
	return c
}

func open(t *testing.T, text string) *generators.Set {
	t.Helper()
	s, err := generators.Open(t.Context(), parse(t, text), silent)
	need.Must(t, err)
	return s
}

func end(t *testing.T, s *generators.Set) {
	t.Helper()
	need.Must(t, s.Close(context.Background()))
}

// draw returns n ids of a generator, which must not repeat.
func draw(t *testing.T, s *generators.Set, name string, n int) []uid.ID {
	t.Helper()
	e, err := s.Open(t.Context(), name)
	need.Must(t, err)
	var ids []uid.ID
	for len(ids) < n {
		run, err := e.Claim(t.Context(), int64(n-len(ids)))
		if err != nil {
			t.Fatalf("%s: %d ids, %v", name, len(ids), err)
		}
		for i := range run.N {
			ids = append(ids, run.First+uid.ID(i))
		}
	}
	seen := map[uid.ID]bool{}
	for _, id := range ids {
		if id <= 0 || seen[id] {
			t.Fatalf("%s: %d, which is none or repeats", name, id)
		}
		seen[id] = true
	}
	return ids
}
