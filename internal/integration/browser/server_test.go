package browser

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/chromedp"

	"github.com/uidring/uidring/internal/test/need"
)

// uidringd starts a server with a counter that is used up, and returns its URL. Its config ends with more.
func uidringd(t *testing.T, more string) string {
	t.Helper()
	dir := t.TempDir()
	need.Build(t, dir, "github.com/uidring/uidring/cmd/uidringd")
	config := filepath.Join(dir, "uidringd.yaml")
	need.Must(t, os.WriteFile(config, []byte(`
stores: [{name: file, url: ids.db}]
generators:
  - {name: ids, kind: cached, store: file}
  - {name: orders, kind: segment, store: file, create: true, limit: 2}
  - {name: tenants, kind: tags, store: file, match: "tenant-*"}
shutdown: {delay: 0s}
`+more), 0o600))
	server := exec.CommandContext(t.Context(), filepath.Join(dir, "uidringd"), "--listen", "127.0.0.1:0", "--config", config)
	server.Dir = dir
	out, err := server.StdoutPipe()
	need.Must(t, err)
	need.Must(t, server.Start())
	t.Cleanup(func() { _ = server.Wait() }) // the test's context has ended it
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, url, ok := strings.Cut(lines.Text(), "serving at "); ok {
			go func() {
				for lines.Scan() { // so that the server never waits for a reader
				}
			}()
			return url
		}
	}
	t.Fatal("the server did not start")
	return ""
}

// The page of uidringd has the state of each generator, lines that a button copies, and
// links to the status page, which leads back.
func TestServer(t *testing.T) {
	ctx := browser(t)
	url := uidringd(t, "")
	for range 3 {
		answer, err := http.Get(url + "v1/orders")
		need.Must(t, err)
		_ = answer.Body.Close()
	}
	complaints(t, ctx)
	screens(t, ctx, "server", url)
	if shown := value[string](t, ctx, `document.body.innerText`); !strings.Contains(shown, "At most 10,000 a request.") {
		t.Errorf("the page is %q", shown)
	}
	run(t, ctx, screen(1280, "light"), chromedp.Navigate(url),
		chromedp.Evaluate[chromedp.Void](`document.addEventListener('copy', () => { window.copied = getSelection().toString() })`),
		chromedp.Click(chromedp.CSS(`section:nth-of-type(2) .line:nth-of-type(2) button`)))
	if want, got := "curl '"+url+"v1/orders?n=5'", value[string](t, ctx, `window.copied`); got != want {
		t.Errorf("copied is %q, want %q", got, want)
	}
	until(t, ctx, `document.querySelector('section:nth-of-type(2) .line:nth-of-type(2) button').textContent === 'Copied'`)

	run(t, ctx, chromedp.Navigate(url), chromedp.Click(chromedp.CSS(`section:nth-of-type(2) .state.not a`)))
	until(t, ctx, `document.querySelector('h2')?.textContent === 'orders' && document.body.dataset.connection === 'live'`)
	run(t, ctx, chromedp.Click(chromedp.CSS(`nav a`)))
	until(t, ctx, `document.querySelectorAll('section').length === 3`)
	run(t, ctx, chromedp.Click(chromedp.CSS(`section:nth-of-type(3) .state a`)))
	until(t, ctx, `document.querySelector('#q')?.value === 'tenant-'`)
}

// A browser asks for a token as a password, and sends it for everything that the pages load. The token
// is in no address.
func TestPassword(t *testing.T) {
	ctx := browser(t)
	const token = "a-secret-token"
	url := uidringd(t, fmt.Sprintf("tokens: [{name: operator, sha256: %x, operations: true}]\n", sha256.Sum256([]byte(token))))
	var asked atomic.Int32
	need.Must(t, chromedp.Listen(ctx, func(event any) {
		switch event := event.(type) {
		case *fetch.EventRequestPaused:
			if strings.Contains(event.Request.URL, token) {
				t.Errorf("the browser asks for %s", event.Request.URL)
			}
			go func() {
				_ = chromedp.Do(ctx, command(fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: event.RequestID}))
			}()
		case *fetch.EventAuthRequired:
			asked.Add(1)
			login := &fetch.AuthChallengeResponse{Response: fetch.AuthChallengeResponseResponseProvideCredentials, Username: "me", Password: token}
			go func() {
				_ = chromedp.Do(ctx, command(fetch.ContinueWithAuth, fetch.ContinueWithAuthParams{RequestID: event.RequestID, AuthChallengeResponse: login}))
			}()
		}
	}))
	run(t, ctx, command(fetch.Enable, fetch.EnableParams{HandleAuthRequests: new(true)}), chromedp.Navigate(url))
	until(t, ctx, `document.querySelectorAll('section').length === 3`)
	run(t, ctx, chromedp.Click(chromedp.CSS(`section:nth-of-type(2) .state a`)))
	until(t, ctx, `document.querySelector('h2')?.textContent === 'orders' && document.body.dataset.connection === 'live'`)
	if n := asked.Load(); n != 1 {
		t.Errorf("the browser asked for the password %d times, want once", n)
	}
	if at := value[string](t, ctx, `location.href`); strings.Contains(at, token) {
		t.Errorf("the address is %s", at)
	}
}
