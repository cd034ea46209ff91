package api_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/uid"
)

// TestUnique draws by all routes at once, from all generators, and looks for an id
// that was drawn twice, and for a client to which numbers or ids went back.
func TestUnique(t *testing.T) {
	h := newHandler(t, newEntries(t), service.Config{})
	const clients, requests = 8, 400
	var all sync.WaitGroup
	drawers := make([]drawer, clients)
	for i := range drawers {
		drawers[i] = drawer{t: t, h: h, ids: map[string][]uid.ID{}, numbers: map[string]uint64{}}
		all.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for range requests {
				drawers[i].draw(kinds[random.IntN(len(kinds))], random.IntN(4), 1+random.IntN(random.IntN(700)+1))
			}
		})
	}
	all.Wait()
	for _, name := range kinds {
		seen := map[uid.ID]bool{}
		for _, d := range drawers {
			for _, id := range d.ids[name] {
				if seen[id] {
					t.Fatalf("%s issued %d twice", name, id)
				}
				seen[id] = true
			}
		}
		if len(seen) < clients*requests/8 {
			t.Errorf("%s issued %d ids only", name, len(seen))
		}
	}
}

var kinds = []string{"cached", "default", "slots", "orders"}

// drawer is a client that remembers what it drew, by the name of the generator.
type drawer struct {
	t       *testing.T
	h       http.Handler
	ids     map[string][]uid.ID
	numbers map[string]uint64 // of the last answer by runs
}

func (d drawer) draw(name string, route, n int) {
	var texts []string
	switch route {
	case 0:
		leaf := "snowflake"
		if name == "orders" {
			leaf = "segment"
		}
		n, texts = 1, []string{d.get("GET", fmt.Sprintf("/api/%s/get/%s", leaf, name))}
	case 1:
		texts = strings.Fields(d.get("GET", fmt.Sprintf("/v1/%s?n=%d", name, n)))
	case 2:
		texts = decode[struct{ IDs []string }](d.t, d.get("GET", fmt.Sprintf("/v1/%s?format=json&n=%d", name, n))).IDs
	case 3:
		answer := decode[runsAnswer](d.t, d.get("POST", fmt.Sprintf("/v1/%s/runs?n=%d", name, n)))
		if answer.Number <= d.numbers[name] {
			d.t.Errorf("%s: answer %d after %d", name, answer.Number, d.numbers[name])
		}
		d.numbers[name] = answer.Number
		for _, run := range answer.Runs {
			for i := range run.Count {
				texts = append(texts, (run.First + uid.ID(i)).String())
			}
		}
	}
	if len(texts) != n {
		d.t.Errorf("%s: %d ids, want %d", name, len(texts), n)
	}
	for _, text := range texts {
		id, err := uid.ParseID(text)
		if last := d.ids[name]; err != nil || name != "slots" && len(last) > 0 && id <= last[len(last)-1] {
			d.t.Errorf("%s: %q after %v: %v", name, text, last[max(0, len(last)-1):], err)
		}
		d.ids[name] = append(d.ids[name], id)
	}
}

func (d drawer) get(method, target string) string {
	w := ask(d.h, method, target)
	if w.Code != http.StatusOK {
		d.t.Errorf("%s %s answers %d %s", method, target, w.Code, w.Body)
	}
	return w.Body.String()
}
