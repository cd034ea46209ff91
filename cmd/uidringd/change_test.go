//go:build linux

package main

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/database"
)

// changeLayout has a store with the layout fleet change to long-lived beneath two servers, which restart one after the other.
// No id repeats. The server that keeps running has the number 0, and thus ids of 128 numbers of long-lived: if the one that
// restarts had one of these, the ids of a second would meet.
func changeLayout(t *testing.T) {
	t.Helper()
	server := func() *running {
		return startConfig(t, "stores: [{name: db, env: "+database.Variable+"}]\ngenerators: [{name: ids, kind: cached, store: db, ids: 10000, ids_per_s: -1}]\nshutdown: {delay: 0s}\n")
	}
	seen := map[int64]bool{}
	draw := func(r *running, n int) (last int64) {
		status, text := get(t, http.DefaultClient, fmt.Sprintf("%s/v1/ids?n=%d", r.url, n))
		if status != http.StatusOK {
			t.Fatalf("%d: %s", status, text)
		}
		for _, last = range clitest.ReadIDs(t, text) {
			if seen[last] {
				t.Fatalf("%d is an id of two servers", last)
			}
			seen[last] = true
		}
		return last
	}
	first, second := server(), server()
	old := draw(first, 100)
	draw(second, 100)
	clitest.Wants(t, uidringd.Succeed(t, "layout", "change", "--to", "long-lived"), ": numbers up to 1 have been given", "under the numbers 256 to 8388607")
	draw(second, 100) // as before
	_ = second.end(t, syscall.SIGTERM)
	second = server()
	const time = 32 // the bits below it, in both layouts
	for range 3 {   // each passes all ids of a second in which the other has some
		at := draw(second, 1) >> time
		for at >= draw(first, 10_000)>>time {
		}
		for at = draw(first, 1) >> time; at >= draw(second, 100)>>time; {
		}
	}
	_ = first.end(t, syscall.SIGKILL)
	first = server()
	draw(first, 1000)
	draw(second, 1000)
	last := draw(first, 1)
	parsed := uidringd.Invoke(t, "", "parse", "--json", fmt.Sprint(old), fmt.Sprint(last))
	if before, after, _ := strings.Cut(parsed.Stdout, "\n"); !strings.Contains(before, `"layout":"31/16/16,`) || !strings.Contains(after, `"layout":"31/23/9,`) || parsed.Code != 0 {
		t.Errorf("parse: %+v; want each id by its own layout", parsed)
	}
	for _, r := range []*running{first, second} {
		for id, want := range map[int64]string{old: "31/16/16,", draw(r, 1): "31/23/9,"} {
			if _, got := get(t, http.DefaultClient, fmt.Sprintf("%s/v1/ids/parse/%d", r.url, id)); !strings.Contains(got, `"layout":"`+want) || strings.Contains(got, "doubtful") {
				t.Errorf("%s, want the layout %s", got, want)
			}
		}
		_, page := r.get(t, "/")
		clitest.Wants(t, page, "(cached, 31/23/9,epoch=2026-01-01,unit=1s)")
		clitest.Wants(t, r.log.String(), "31/23/9")
	}
}
