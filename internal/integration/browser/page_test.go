package browser

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidstatus"
	"github.com/uidring/uidring/worker/lease"
)

// text is an expression for a figure of the page.
func text(key string) string {
	return fmt.Sprintf(`document.querySelector('[data-text=%s]').textContent`, key)
}

const arc = `document.querySelector('.ring .ready').getAttribute('stroke-dasharray')`

func TestPage(t *testing.T) {
	ctx := browser(t)
	g := cached(t)
	server := serve(t, map[string]uid.Reporter{"orders": g}, uidstatus.Config{})
	complaints(t, ctx)

	show(t, ctx, server.URL+place)
	until(t, ctx, text("remaining")+` === '2,048' && `+text("state")+` === 'OK'`)
	full := value[string](t, ctx, arc)
	if full != "1000 1000" {
		t.Errorf("the arc of a full ring is %s", full)
	}

	// The picture changes as ids are drawn, and refills are counted.
	var id uid.ID
	for range 700 {
		id, _ = g.Next()
	}
	until(t, ctx, text("ids_issued_total")+` === '700'`)
	until(t, ctx, arc+` === '658 1000' && `+text("remaining")+` === '1,348'`)
	if shown := value[string](t, ctx, text("picture")); !strings.HasPrefix(shown, "1,348 of 2,048 ids are ready") {
		t.Errorf("the picture's text is %q", shown)
	}
	for range 1000 {
		id, _ = g.Next()
	}
	until(t, ctx, text("ring_refills_total")+` !== '0' && `+text("ids_issued_total")+` === '1,700'`)
	until(t, ctx, `document.querySelector('[data-rate]').textContent.endsWith(' a second')`)

	// An id decodes, by the keyboard alone.
	parts, _ := g.Parse(id)
	ask := func(id string) {
		run(t, ctx,
			chromedp.Focus(chromedp.CSS(`input[name=id]`)),
			chromedp.Evaluate[chromedp.Void](`document.activeElement.select()`),
			chromedp.KeyEvent(id+"\r"))
	}
	const answer = `document.querySelector('#answer').innerText`
	ask(id.String())
	until(t, ctx, fmt.Sprintf(`%s.includes(%q)`, answer, parts.Time.Format("2006-01-02 15:04:05")+" UTC"))
	if shown := value[string](t, ctx, answer); !strings.Contains(shown, fmt.Sprintf("Sequence\n%d", parts.Sequence)) {
		t.Errorf("the answer to %v is %q, want %+v", id, shown, parts)
	}
	if query := value[string](t, ctx, `location.search + location.hash`); query != "?name=orders&id="+id.String() {
		t.Errorf("the address has %q", query)
	}
	for _, scheme := range []string{"dark", "light"} { // the docs have them
		run(t, ctx, screen(1200, scheme))
		keep(t, ctx, "orders-"+scheme)
	}

	// A wrong one says why.
	ask(`12<img src=x onerror=alert(1)>`)
	until(t, ctx, answer+`.includes('not an id: "12<img')`)
	if !value[bool](t, ctx, `document.querySelector('input[name=id]').hasAttribute('aria-invalid')`) {
		t.Error("the field is not marked as invalid")
	}
	ask("9223372036854775807")
	until(t, ctx, answer+`.includes('not an id of this layout')`)
	ask("1")
	until(t, ctx, answer+`.includes('Sequence')`)
	if value[bool](t, ctx, `document.querySelector('input[name=id]').hasAttribute('aria-invalid')`) {
		t.Error("the field is still marked as invalid")
	}
}

// trouble is a generator with everything wrong that can be.
func trouble(g *uid.Cached) uid.Stats {
	s, now := g.Stats(), time.Now()
	s.Clock.LayoutEnd, s.Clock.LayoutEndsSoon = now.AddDate(0, 2, 0), true
	s.Issued, s.RejectedTakes, s.Waited = 48_211_907_331, 1_204, 3*time.Hour+20*time.Minute
	s.Remaining, s.Ring.Refills, s.Ring.Helps, s.Clock.WorkerChanges = 380, 23_541_204, 12, 2
	s.Clock.ReservedUntil, s.Clock.LeaseError = now.Add(7*time.Minute), errors.New("dial tcp 10.20.30.40:5432: connect: connection refused")
	s.Ring.Borrowed, s.Ring.OldestAge = 24*time.Hour, -23*time.Hour-58*time.Minute
	s.LastError = &uid.BorrowLimitError{Limit: 24 * time.Hour, Retry: time.Second}
	return s
}

// The page of 1, 3 and 3,001 generators, that are idle, busy and in trouble.
func TestScreens(t *testing.T) {
	ctx := browser(t)
	d, err := uid.NewDefault(t.Context(), lease.NewStatic(3), uid.DefaultConfig{Layout: bits.Snowflake()})
	need.Must(t, err)
	defer d.Close()
	g, quoted := cached(t), cached(t)
	began := time.Now()
	tenants := map[string]uid.Stats{}
	for i := range 3000 {
		tag := fmt.Sprintf("tenant-%04d", i)
		tenants[tag] = uid.Stats{Issued: int64(7 * i), Remaining: 500, Loads: &uid.LoadStats{From: "postgres table leaf_alloc", Tag: tag, InUse: uid.Run{First: 1, N: 1000}, LastSize: 1000, Requests: 3}}
	}
	for tag, left := range map[string]int64{"tenant-0007": 300, "tenant-1404": 0} {
		s := tenants[tag]
		s.Remaining, s.LastError = left, errors.New("segment: store is unavailable: dial tcp 10.20.30.40:5432: connect: connection refused")
		tenants[tag] = s
	}
	busy := func() uid.Stats { // 8,000 ids a second
		s := g.Stats()
		s.Issued = 1_000_000 + 8*time.Since(began).Milliseconds()
		return s
	}
	idle := func() uid.Stats {
		s := quoted.Stats()
		s.Dropped, s.Ring.RejectedPuts = 183_416, 716
		return s
	}
	failing := func() uid.Stats {
		s := trouble(g)
		s.Remaining, s.Clock.ReservedUntil, s.LastError = 0, time.Time{}, &uid.ReservationError{Err: s.Clock.LeaseError}
		return s
	}
	only := func(stats func() uid.Stats) *httptest.Server {
		return serve(t, nil, uidstatus.Config{More: func() map[string]uid.Stats { return map[string]uid.Stats{"orders": stats()} }})
	}
	few := serve(t, map[string]uid.Reporter{"sessions": d}, uidstatus.Config{Home: "../", More: func() map[string]uid.Stats {
		return map[string]uid.Stats{"orders": busy(), "trouble": trouble(g), `<b>"quoted" & bold</b>`: idle()}
	}})
	many := serve(t, map[string]uid.Reporter{"orders": g}, uidstatus.Config{More: func() map[string]uid.Stats { return maps.Clone(tenants) }})
	complaints(t, ctx)
	for name, url := range map[string]string{
		"one-idle": only(idle).URL + place + "?id=1234567890123", "one-failing": only(failing).URL + place, "few": few.URL + place, "busy": few.URL + place + "?name=orders",
		"trouble": few.URL + place + "?name=trouble&id=x", "sessions": few.URL + place + "?name=sessions", "many": many.URL + place,
		"segment": many.URL + place + "?name=tenant-0007",
	} {
		screens(t, ctx, name, url)
	}
}

// screens looks at a page, light and dark, on screens of several widths.
func screens(t *testing.T, ctx context.Context, page, url string) {
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1920, 1280, 800, 390, 360} {
			name := fmt.Sprintf("%s-%d-%s", page, width, scheme)
			t.Run(name, func(t *testing.T) {
				run(t, ctx, screen(width, scheme), chromedp.Navigate(url))
				until(t, ctx, `document.querySelector('[data-rate]')?.textContent.endsWith(' a second') || document.querySelector('pre + button') !== null`)
				if over := value[[]string](t, ctx, overflow); len(over) > 0 {
					t.Errorf("too wide: %q", over)
				}
				if broken := value[[]string](t, ctx, broken); len(broken) > 0 {
					t.Errorf("broken values: %q", broken)
				}
				if pale := value[[]string](t, ctx, contrast); len(pale) > 0 {
					t.Errorf("too little contrast: %q", pale)
				}
				if alike := value[[]string](t, ctx, alike); len(alike) > 0 {
					t.Errorf("rows that stand out, or do not: %q", alike)
				}
				dark := value[float64](t, ctx, `getComputedStyle(document.body).backgroundColor.match(/\d+/g).reduce((a, b) => a + +b, 0)`) < 200
				if dark != (scheme == "dark") {
					t.Errorf("dark is %t", dark)
				}
				if n := value[int](t, ctx, `document.querySelectorAll('b').length`); n != 0 {
					t.Errorf("a name made %d elements", n)
				}
				keep(t, ctx, name)
			})
		}
	}
}

// The table is kept up to date, and leads to the page of each generator.
func TestTable(t *testing.T) {
	ctx := browser(t)
	orders, sessions := cached(t), cached(t)
	server := serve(t, map[string]uid.Reporter{"orders": orders, "a/b?c": sessions}, uidstatus.Config{})
	complaints(t, ctx)
	show(t, ctx, server.URL+place)
	_, _ = sessions.Next()
	const row = `document.querySelector('[data-generator="a/b?c"]')`
	until(t, ctx, row+`.querySelector('[data-text=ids_issued_total]').textContent === '1'`)
	until(t, ctx, row+`.querySelector('[data-rate]').textContent.endsWith(' a second')`)
	_ = sessions.Close()
	until(t, ctx, row+`.dataset.state === 'failing' && `+row+`.innerText.includes('The generator is closed.')`)
	if state := value[string](t, ctx, `document.querySelector('[data-generator=orders]').dataset.state`); state != "ok" {
		t.Errorf("the state of the other generator is %s", state)
	}
	run(t, ctx, chromedp.Evaluate[chromedp.Void](row+`.querySelector('a').click()`))
	until(t, ctx, `document.querySelector('h2')?.textContent === 'a/b?c' && document.body.dataset.connection === 'live'`)
	run(t, ctx, chromedp.Evaluate[chromedp.Void](`document.querySelector('nav a').click()`))
	until(t, ctx, `document.querySelectorAll('tbody tr').length === 2`)
}

// overflow lists what is wider than the screen, or than what it is in.
const overflow = `[...document.querySelectorAll('*')].filter((e) => e.getClientRects().length > 0 &&
  e.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5).map((e) => e.outerHTML.slice(0, 80))
  .concat(document.documentElement.scrollWidth > document.documentElement.clientWidth ? ['the page'] : [])`

// broken lists values, other than errors, that take more than one line.
const broken = `[...document.querySelectorAll('.group dd:not([data-text$=_error]) span, td.number')].filter((e) => {
  const range = document.createRange();
  range.selectNodeContents(e);
  return new Set([...range.getClientRects()].map((r) => r.top)).size > 1;
}).map((e) => e.outerHTML.slice(0, 80))`

// alike lists the rows in trouble that have no ground and stripe of their own, and others with one.
const alike = `[...document.querySelectorAll('tbody tr')].filter((row) => {
  const stripe = getComputedStyle(row.cells[0]).boxShadow !== 'none' || getComputedStyle(row).borderLeftWidth === '4px';
  const ground = [...row.cells].some((cell) => getComputedStyle(cell).backgroundColor !== 'rgba(0, 0, 0, 0)');
  return [stripe, ground].some((stands) => stands !== (row.dataset.state !== 'ok'));
}).map((row) => row.innerText)`

// contrast lists texts with less than the 4.5 to 1 of WCAG 2, level AA.
const contrast = `(() => {
  const rgb = (c) => c.match(/[\d.]+/g).map(Number);
  const light = (c) => {
    const [r, g, b] = rgb(c).slice(0, 3).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor;
      if (rgb(c)[3] !== 0) return c;
    }
    return 'rgb(255, 255, 255)';
  };
  return [...document.body.querySelectorAll('*')].filter((e) =>
    e.getClientRects().length > 0 && e.localName !== 'title' &&
    [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())
  ).map((e) => {
    const style = getComputedStyle(e);
    const a = light(e.localName === 'text' ? style.fill : style.color), b = light(ground(e));
    return [e, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
  }).filter(([, ratio]) => ratio < 4.5).map(([e, ratio]) => ratio.toFixed(2) + ' ' + e.outerHTML.slice(0, 80));
})()`

// The page says when the server is unavailable and when it is back.
func TestServerGone(t *testing.T) {
	ctx := browser(t)
	g := cached(t)
	app := serve(t, map[string]uid.Reporter{"orders": g}, uidstatus.Config{}).Config.Handler
	var gone atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gone.Load() {
			panic(http.ErrAbortHandler)
		}
		app.ServeHTTP(w, r)
	}))
	defer server.Close()
	show(t, ctx, server.URL+place)

	gone.Store(true)
	until(t, ctx, `document.querySelector('[data-said]').textContent.startsWith('The server does not answer.')`)
	if pale := value[[]string](t, ctx, contrast); len(pale) > 0 {
		t.Errorf("too little contrast: %q", pale)
	}
	keep(t, ctx, "gone-light")
	gone.Store(false)
	until(t, ctx, `document.querySelector('[data-said]').textContent === 'Live'`)
}

// A page that nobody sees asks for nothing.
func TestHidden(t *testing.T) {
	ctx := browser(t)
	g := cached(t)
	server := serve(t, map[string]uid.Reporter{"orders": g}, uidstatus.Config{})
	show(t, ctx, server.URL+place)
	hide := func(hidden bool) {
		value[bool](t, ctx, fmt.Sprintf(`Object.defineProperty(document, 'hidden', { value: %t, configurable: true }),
  document.dispatchEvent(new Event('visibilitychange'))`, hidden))
	}
	hide(true)
	until(t, ctx, `document.body.dataset.connection === 'paused'`)
	const silent = `performance.now() - performance.getEntriesByName(location.href, 'resource').at(-1).responseEnd > 2500`
	until(t, ctx, silent)
	_, _ = g.Next()
	hide(false)
	until(t, ctx, text("ids_issued_total")+` === '1'`)

	// Hidden while an answer is under way, it asks for no other.
	value[bool](t, ctx, `Object.defineProperty(document, 'hidden', { value: true, configurable: true }), true`)
	until(t, ctx, silent)
}

// Without a script it is a plain page, with a form that works.
func TestNoScript(t *testing.T) {
	ctx := browser(t)
	g := cached(t)
	id, _ := g.Next()
	server := serve(t, map[string]uid.Reporter{"orders": g}, uidstatus.Config{})
	complaints(t, ctx)
	run(t, ctx, command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}), screen(1200, "light"), chromedp.Navigate(server.URL+place))
	until(t, ctx, text("ids_issued_total")+` === '1'`)
	run(t, ctx, chromedp.Focus(chromedp.CSS(`input[name=id]`)), chromedp.KeyEvent(id.String()+"\r"))
	until(t, ctx, `document.querySelector('#answer')?.innerText.includes('Sequence') ?? false`)
	if value[bool](t, ctx, `'connection' in document.body.dataset`) {
		t.Error("the script did run")
	}
}
