package browser

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidstatus"
)

// A search finds what the table leaves out, as its text is typed. Rows that change their
// place keep the focus on their links.
func TestSearch(t *testing.T) {
	ctx := browser(t)
	var mu sync.Mutex
	all := map[string]uid.Stats{}
	for i := range 3000 {
		tag := fmt.Sprintf("tenant-%04d", i)
		all[tag] = uid.Stats{Issued: int64(7 * i), Remaining: 500, Loads: &uid.LoadStats{From: "postgres table leaf_alloc", Tag: tag, LastSize: 1000, Requests: 3}}
	}
	server := serve(t, map[string]uid.Reporter{"orders": cached(t)}, uidstatus.Config{Home: "../", More: func() map[string]uid.Stats {
		mu.Lock()
		defer mu.Unlock()
		return maps.Clone(all)
	}})
	complaints(t, ctx)
	show(t, ctx, server.URL+place)
	const rows = `document.querySelectorAll('tbody tr').length`
	until(t, ctx, rows+` === 100`)

	run(t, ctx, chromedp.Focus(chromedp.CSS(`[data-generator="tenant-2999"] a`)))
	mu.Lock()
	for _, tag := range []string{"tenant-0007", "tenant-2999"} {
		s := all[tag]
		s.Remaining, s.LastError = 0, errors.New("segment: store is unavailable: dial tcp 10.20.30.40:5432: connect: connection refused")
		all[tag] = s
	}
	mu.Unlock()
	until(t, ctx, `document.querySelectorAll('tbody')[0].rows[1].dataset.generator === 'tenant-2999'`)
	if focus := value[string](t, ctx, `document.activeElement.textContent`); focus != "tenant-2999" {
		t.Errorf("the focus is on %q", focus)
	}
	run(t, ctx, screen(1280, "light"), chromedp.SendKeys(chromedp.CSS(`#q`), "T-000"))
	until(t, ctx, rows+` === 10 && document.querySelector('.found').textContent === '10 of 3,001 found. Not generating ids: 1.'`)
	run(t, ctx, chromedp.SendKeys(chromedp.CSS(`#q`), "8"))
	until(t, ctx, rows+` === 1 && location.search === '?q=T-0008'`)
	if typed := value[string](t, ctx, `document.activeElement.value`); typed != "T-0008" {
		t.Errorf("the field has the text %q", typed)
	}
	run(t, ctx, chromedp.SendKeys(chromedp.CSS(`#q`), "8"))
	until(t, ctx, rows+` === 0`)
	keep(t, ctx, "search-none")
	if home := value[string](t, ctx, `document.querySelector('nav a').href`); home != server.URL+"/debug/" {
		t.Errorf("the link leads to %s", home)
	}
}
