package segment_test

import (
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

// A start logs one line: what was started, from which counter, and its first range.
func TestStartIsLogged(t *testing.T) {
	store := new(segmenttest.Memory)
	if err := store.Create(t.Context(), "orders", 5, 10); err != nil {
		t.Fatal(err)
	}
	var log logged.Text
	gen, err := segment.New(t.Context(), store, "orders", segment.Config{Step: 10, MinStep: 10, Logger: log.Logger()})
	if err != nil {
		t.Fatal(err)
	}
	gen.Close() // which waits for the line
	_, got, _ := strings.Cut(log.String(), " ")
	if want := `level=INFO msg="segment: started" kind=Generator tag=orders store=` + store.String() + " first=5 end=15\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
