package uidclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	goleak.VerifyTestMain(m)
}

var errRefused = errors.New("connection refused")

// forever is what a server takes that hangs.
const forever = 1000 * time.Hour

// fake is a server that answers as uidringd does. Its ids are those of a counter.
type fake struct {
	mu          sync.Mutex
	instance    string
	number      int64         // of the last answer
	next        int64         // id
	runs        int64         // that an answer has
	limit       int64         // of ids an answer has; 0 is none
	over        int           // status of a request for more; 0 is 400
	takes       time.Duration // for an answer
	unavailable bool          // refuses connections
	status      int           // it answers with; 0 is 200
	header      http.Header   // of such an answer
	body        string        // it answers with, if not empty
	asked       []int64       // n of each request
	gives       int64         // most ids of an answer, however many are asked for; 0 is no bound
	made        int64         // ids of all answers
}

func newFake(instance string, next int64) *fake {
	return &fake{instance: instance, next: next, runs: 1}
}

// set changes the server while requests are served.
func (f *fake) set(change func(f *fake)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

// down makes the server refuse connections.
func (f *fake) down() { f.set(func(f *fake) { f.unavailable = true }) }

// up makes the server answer.
func (f *fake) up() {
	f.set(func(f *fake) { f.unavailable, f.takes, f.status, f.body = false, 0, 0, "" })
}

// hang makes the server not answer.
func (f *fake) hang() { f.set(func(f *fake) { f.takes = forever }) }

// fail makes the server answer with a status, and Retry-After unless it is empty.
func (f *fake) fail(status int, retryAfter string) {
	f.set(func(f *fake) {
		f.status, f.header = status, http.Header{}
		if retryAfter != "" {
			f.header.Set("Retry-After", retryAfter)
		}
	})
}

// requests returns how many there were.
func (f *fake) requests() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.asked)
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	takes := f.takes
	f.mu.Unlock()
	if takes > 0 { // time.After(0) in several goroutines of a bubble crashes the race detector
		select {
		case <-time.After(takes):
		case <-r.Context().Done():
			return
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := strconv.ParseInt(r.URL.Query().Get("n"), 10, 64)
	f.asked = append(f.asked, n)
	switch {
	case r.Method != http.MethodPost || r.URL.EscapedPath() != "/v1/orders/runs" || err != nil || n < 1:
		http.Error(w, r.Method+" "+r.URL.String(), http.StatusNotFound)
	case f.status != 0 || f.body != "":
		maps.Copy(w.Header(), f.header)
		w.WriteHeader(cmp.Or(f.status, http.StatusOK))
		_, _ = io.WriteString(w, f.body)
	case f.limit > 0 && n > f.limit:
		w.WriteHeader(cmp.Or(f.over, http.StatusBadRequest))
		fmt.Fprintf(w, `{"title":"Bad Request","detail":"n is %d, want 1 to %d"}`, n, f.limit)
	default:
		f.number++
		if f.gives > 0 {
			n = min(n, f.gives)
		}
		f.made += n
		var runs []string
		for left, parts := n, min(f.runs, n); parts > 0; parts-- {
			count := left / parts
			runs = append(runs, fmt.Sprintf(`{"first":"%d","count":%d}`, f.next, count))
			f.next += count
			if f.runs > 1 {
				f.next++ // else the runs would be one
			}
			left -= count
		}
		fmt.Fprintf(w, `{"instance":%q,"number":%d,"runs":[%s]}`, f.instance, f.number, strings.Join(runs, ","))
	}
}

// network has the servers by host. It is for virtual time, which a real network
// does not know.
type network map[string]*fake

func (n network) RoundTrip(r *http.Request) (*http.Response, error) {
	f := n[r.URL.Host]
	f.mu.Lock()
	unavailable := f.unavailable
	f.mu.Unlock()
	if unavailable {
		return nil, errRefused
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// bubble runs a test in virtual time, with a client of n servers. Their ids begin at 1, at
// 1,000,000 and at 2,000,000.
func bubble(t *testing.T, config Config, n int, test func(t *testing.T, c *Client, servers []*fake)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		servers := []*fake{newFake("a", 1), newFake("b", 1_000_000), newFake("c", 2_000_000)}[:n]
		test(t, open(t, config, servers...), servers)
	})
}

// open returns a client of the servers until the test ends.
func open(t *testing.T, config Config, fakes ...*fake) *Client {
	t.Helper()
	c, err := tryOpen(t.Context(), config, fakes...)
	need.Must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// tryOpen makes a client of the servers, which begins with the first of them.
func tryOpen(ctx context.Context, config Config, fakes ...*fake) (*Client, error) {
	n, urls := network{}, []string(nil)
	for i, f := range fakes {
		host := fmt.Sprintf("ids-%d", i+1)
		n[host] = f
		urls = append(urls, "http://"+host)
	}
	config.transport = n
	began := randomly
	defer func() { randomly = began }()
	randomly = func(int) int { return 0 }
	return New(ctx, urls, "orders", config)
}

// take takes n ids, which follow first.
func take(t *testing.T, g uid.Generator, first uid.ID, n int) {
	t.Helper()
	ids := make([]uid.ID, n)
	if got, err := g.NextN(ids); got != n || err != nil {
		t.Fatalf("NextN() = %d, %v, want %d ids", got, err, n)
	}
	for i, id := range ids {
		if id != first+uid.ID(i) {
			t.Fatalf("id %d, want %d", id, first+uid.ID(i))
		}
	}
}

// waits are the calls that wait for an id until their context ends.
var waits = map[string]func(context.Context, *Client) error{
	"Wait":  func(ctx context.Context, c *Client) error { _, err := c.Wait(ctx); return err },
	"WaitN": func(ctx context.Context, c *Client) error { _, err := c.WaitN(ctx, make([]uid.ID, 1)); return err },
	"Claim": func(ctx context.Context, c *Client) error { _, err := c.Claim(ctx, 1); return err },
	"All": func(ctx context.Context, c *Client) error {
		for _, err := range c.All(ctx) {
			return err
		}
		return nil
	},
}

// drain takes ids until a call fails, and returns the last id and the error.
func drain(t *testing.T, g uid.Generator) (last uid.ID, err error) {
	t.Helper()
	for range 1 << 20 {
		id, err := g.Next()
		if err != nil {
			return last, err
		}
		last = id
	}
	t.Fatal("a million ids, and no call fails")
	return 0, nil
}
