package browser

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/uidring/uidring/internal/test/need"
)

// uidringd starts a server with a counter that is used up, and returns its URL.
func uidringd(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "uidringd")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/uidring/uidring/cmd/uidringd")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v, %s", err, out)
	}
	config := filepath.Join(dir, "uidringd.yaml")
	need.Must(t, os.WriteFile(config, []byte(`
stores: [{name: file, url: ids.db}]
generators:
  - {name: ids, kind: cached, store: file}
  - {name: orders, kind: segment, store: file, create: true, limit: 2}
  - {name: tenants, kind: tags, store: file, match: "tenant-*"}
shutdown: {delay: 0s}
`), 0o600))
	server := exec.CommandContext(t.Context(), program, "--listen", "127.0.0.1:0", "--config", config)
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
	url := uidringd(t)
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
