package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidstatus"
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
	until(t, ctx, text("remaining")+` === '8,192' && `+text("state")+` === 'OK'`)
	full := value[string](t, ctx, arc)
	if full != "1000 1000" {
		t.Errorf("the arc of a full ring is %s", full)
	}

	// The picture changes as ids are drawn, and refills are counted.
	var id uid.ID
	for range 2800 {
		id, _ = g.Next()
	}
	until(t, ctx, text("ids_issued_total")+` === '2,800'`)
	until(t, ctx, arc+` === '658 1000' && `+text("remaining")+` === '5,392'`)
	if shown := value[string](t, ctx, text("picture")); !strings.HasPrefix(shown, "5,392 of 8,192 ids are ready") {
		t.Errorf("the picture's text is %q", shown)
	}
	for range 4000 {
		id, _ = g.Next()
	}
	until(t, ctx, text("ring_refills_total")+` !== '0' && `+text("ids_issued_total")+` === '6,800'`)
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

// screens looks at a page, light and dark, on a wide and a narrow screen.
func screens(t *testing.T, ctx context.Context, page, url string) {
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 360} {
			name := fmt.Sprintf("%s-%d-%s", page, width, scheme)
			t.Run(name, func(t *testing.T) {
				run(t, ctx, screen(width, scheme), chromedp.Navigate(url))
				until(t, ctx, `document.querySelector('[data-rate]')?.textContent.endsWith(' a second') || document.querySelector('pre + button') !== null`)
				if over := value[[]string](t, ctx, overflow); len(over) > 0 {
					t.Errorf("too wide: %q", over)
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
	screens(t, ctx, "few", server.URL+place)
	screens(t, ctx, "orders", server.URL+place+"?name=orders&id=1234567890123")
}

// overflow lists what is wider than the screen, or than what it is in.
const overflow = `[...document.querySelectorAll('*')].filter((e) => e.getClientRects().length > 0 &&
  e.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5).map((e) => e.outerHTML.slice(0, 80))
  .concat(document.documentElement.scrollWidth > document.documentElement.clientWidth ? ['the page'] : [])`

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
