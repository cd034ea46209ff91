// Package browser drives the status page of uidstatus in a real browser.
//
// UIDRING_TEST_BROWSER names the browser, one of the Chromium family; without it
// the usual names are looked for, and without any the tests are skipped.
// UIDRING_TEST_ARTIFACTS names a directory for the screenshots.
package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidstatus"
	"github.com/uidring/uidring/worker/lease"
)

// place is where the page is mounted: not at the root, as in an app.
const place = "/debug/uid/"

// browser starts a browser for the test, with a new profile that goes with it.
func browser(t *testing.T) context.Context {
	t.Helper()
	path := os.Getenv("UIDRING_TEST_BROWSER")
	if path == "" {
		for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
			if found, err := exec.LookPath(name); err == nil {
				path = found
				break
			}
		}
	}
	if path == "" {
		need.Skip(t, "no browser: UIDRING_TEST_BROWSER is not set, and there is no chromium or chrome")
	}
	profile, err := os.MkdirTemp("", "uidstatus")
	need.Must(t, err)
	t.Cleanup(func() {
		// The browser's helpers outlive it for a moment and go on writing.
		for range 10 {
			_ = os.RemoveAll(profile)
			time.Sleep(50 * time.Millisecond)
		}
	})
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.UserDataDir(profile),
		chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("force-color-profile", "srgb"),
		chromedp.WSURLReadTimeout(time.Minute),
	)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) }) // waits for it to end
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	return ctx
}

// complaints fails the test for what the browser finds wrong until the test ends: errors and
// warnings of the console, which refusals by the Content-Security-Policy are among.
func complaints(t *testing.T, ctx context.Context) {
	var mu sync.Mutex
	var all []string
	add := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, fmt.Sprintf(format, args...))
	}
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
				add("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
			}
		case *runtime.EventConsoleAPICalled:
			add("console.%s: %v", e.Type, e.Args)
		case *runtime.EventExceptionThrown:
			add("exception: %v", e.ExceptionDetails)
		}
	})
	need.Must(t, err)
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		if len(all) > 0 {
			t.Errorf("the browser complains: %q", all)
		}
	})
}

// step is something that the browser does, without a value.
type step = chromedp.Action[chromedp.Void]

// run takes steps. A step that fails ends the test.
func run(t *testing.T, ctx context.Context, steps ...step) {
	t.Helper()
	need.Must(t, chromedp.Do(ctx, steps...))
}

// value returns what an expression of the page has.
func value[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	need.Must(t, err)
	return v
}

// until waits for an expression of the page to be true. An expression that fails is not
// true yet: its elements are not drawn, or the browser goes to another page.
func until(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	end := time.Now().Add(2 * time.Minute)
	for {
		so, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression))
		if so && err == nil {
			return
		}
		if ctx.Err() != nil || time.Now().After(end) {
			t.Fatalf("not so after 2 minutes: %s (%v)\n%s", expression, err, value[string](t, ctx, "document.body.innerText"))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// show opens a page, and waits for its first answer from the server.
func show(t *testing.T, ctx context.Context, url string) {
	t.Helper()
	run(t, ctx, screen(1200, "light"), chromedp.Navigate(url))
	until(t, ctx, `document.body.dataset.connection === 'live'`)
}

// screen is what the page is looked at on.
func screen(width int64, scheme string) step {
	return chromedp.Steps(
		command(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: width, Height: 900, DeviceScaleFactor: 1.5, Mobile: width < 500,
		}),
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme},
			{Name: "prefers-reduced-motion", Value: "reduce"},
		}}),
	)
}

// command sends a command of the protocol.
func command[P, R any](c cdp.Command[P, R], params P) step {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// keep makes a screenshot of the whole page and keeps it.
func keep(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	need.Must(t, err)
	dir := os.Getenv("UIDRING_TEST_ARTIFACTS")
	if dir == "" {
		dir = t.TempDir()
	}
	need.Must(t, os.MkdirAll(dir, 0o755))
	path := filepath.Join(dir, name+".png")
	need.Must(t, os.WriteFile(path, picture, 0o644))
	t.Log(path)
}

// serve serves an app that has the page at its place.
func serve(t *testing.T, generators map[string]uid.Reporter, config uidstatus.Config) *httptest.Server {
	t.Helper()
	status, err := uidstatus.New(generators, config)
	need.Must(t, err)
	mux := http.NewServeMux()
	mux.Handle(place, status)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func cached(t *testing.T) *uid.Cached {
	t.Helper()
	g, err := uid.NewCached(t.Context(), lease.NewStatic(7), uid.CachedConfig{Layout: bits.JSSafe()}) // a ring of 8,192 ids, so that a few show in the picture
	need.Must(t, err)
	t.Cleanup(func() { _ = g.Close() })
	return g
}
