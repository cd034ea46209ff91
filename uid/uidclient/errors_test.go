package uidclient

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

const secret = "s3cret-t0ken"

// A config's faults are all named, with value and range, and without secrets.
func TestConfig(t *testing.T) {
	good := []string{"http://127.0.0.1:8080"}
	for _, c := range []struct {
		urls   []string
		name   string
		config Config
		want   []string
	}{
		{nil, "", Config{}, []string{"urls is empty, want one or more URLs", `name is ""`}},
		{good, ".", Config{}, []string{`name is "."`}},
		{good, "..", Config{}, []string{`name is ".."`}},
		{good, "a", Config{MaxAge: time.Millisecond, Ahead: -1, MaxIDs: -1, Timeout: -1}, []string{
			"MaxAge is 1ms, want 100ms or more", "Ahead is -1ns, want more than 0", "MaxIDs is -1, want 1 to 16777216",
			"Timeout is -1ns, want more than 0"}},
		{good, "a", Config{Ahead: time.Hour}, []string{"Ahead is 1h0m0s, want more than 0, and at most MaxAge (1m0s)"}},
		{good, "a", Config{MaxAge: 5 * time.Second, Ahead: defaultAhead}, []string{"Ahead is 10s, want more than 0, and at most MaxAge (5s)"}},
		{good, "a", Config{MaxAge: 5 * time.Second, Timeout: defaultTimeout}, []string{"Timeout is 3s, want more than 0, and at most half of MaxAge (5s)"}},
		{good, "a", Config{MaxAge: -time.Second}, []string{"MaxAge is -1s, want 100ms or more, or -1ns for no limit"}},
		{good, "a", Config{Token: secret + "\n"}, []string{"Token is invalid (not shown), want printable ASCII"}},
		{good, "a", Config{Token: secret + " b"}, []string{"Token is invalid (not shown), want printable ASCII"}},
		{good, "a", Config{Token: secret + "\x7f"}, []string{"Token is invalid (not shown), want printable ASCII"}},
		{good, "a", Config{MaxIDs: MaxIDs + 1}, []string{"MaxIDs is 16777217, want 1 to 16777216"}},
		{good, "a", Config{MaxAge: time.Hour, Ahead: time.Hour + 1}, []string{"Ahead is 1h0m0.000000001s, want more than 0, and at most MaxAge (1h0m0s)"}},
		{[]string{"http://ids#a"}, "a", Config{}, []string{`urls[0] is "http://ids", want no query and no fragment`}},
		{[]string{"http://localhost.example.com"}, "a", Config{Token: secret}, []string{"want https"}},
		{[]string{"ids:8080", "ftp://ids", "http://", "http://ids?a=b", "http://u:" + secret + "@ids", "http://ids\n" + secret}, "a", Config{}, []string{
			`urls[0] is "ids:8080", want http://HOST:PORT`, `urls[1] is "ftp://ids"`, `urls[2] is "http://"`,
			"urls[3] is \"http://ids\", want no query", "urls[4] is a URL with a user, want Config.Token", "urls[5] is no URL"}},
		{[]string{"http://ids", "http://10.0.0.1"}, "a", Config{Token: secret}, []string{`urls[0] is "http://ids", want https`, `urls[1] is "http://10.0.0.1"`}},
	} {
		_, err := New(t.Context(), c.urls, c.name, c.config)
		need.Faults(t, err, uid.ErrConfig, c.want...)
		if strings.Contains(fmt.Sprint(err), secret) {
			t.Errorf("New(%q) = %v: it has the token", c.urls, err)
		}
	}
	for _, url := range []string{"https://ids", "http://localhost:1", "http://[::1]:80/prefix"} {
		config := Config{Token: secret}
		if requests, err := config.requests([]string{url}, "a/b c"); err != nil || requests[0] != url+"/v1/a%2Fb%20c/runs" {
			t.Errorf("requests(%q) = %v, %v", url, requests, err)
		}
	}
	for _, c := range []struct {
		url                 string
		config              Config
		ahead, age, timeout time.Duration
		ids                 int64
	}{
		{"http://ids", Config{}, 10 * time.Second, time.Minute, 3 * time.Second, 1_000_000},
		{"http://ids", Config{MaxAge: time.Second}, time.Second, time.Second, 500 * time.Millisecond, 1_000_000},
		{"http://ids", Config{MaxAge: 8 * time.Second, Ahead: 8 * time.Second}, 8 * time.Second, 8 * time.Second, 3 * time.Second, 1_000_000},
		{"http://ids", Config{MaxAge: minMaxAge, Ahead: 1, Timeout: 1, MaxIDs: MaxIDs}, 1, 100 * time.Millisecond, 1, 1 << 24},
		{"http://ids", Config{MaxAge: uid.Unlimited, Ahead: time.Hour, Timeout: time.Hour, MaxIDs: 1}, time.Hour, -1, time.Hour, 1},
		{"http://ids", Config{Token: "!~", Insecure: true}, 10 * time.Second, time.Minute, 3 * time.Second, 1_000_000},
	} {
		_, err := c.config.requests([]string{c.url}, "a")
		if got := c.config; err != nil || got.Ahead != c.ahead || got.MaxAge != c.age || got.Timeout != c.timeout || got.MaxIDs != c.ids || got.Logger != slog.Default() {
			t.Errorf("requests(%q) = %+v, %v, want %+v", c.url, got, err, c)
		}
	}
}

// The HTTP client bounds each step of a request, and follows the environment's proxy.
func TestTransport(t *testing.T) {
	transport, ok := newHTTP(&Config{Timeout: time.Second}).Transport.(*http.Transport)
	if !ok || transport.Proxy == nil || transport.DialContext == nil || transport.TLSHandshakeTimeout != time.Second ||
		transport.IdleConnTimeout != 90*time.Second || transport.Protocols.HTTP2() {
		t.Errorf("the transport is %+v", transport)
	}
}

// An answer that is not a list of runs is refused, and the error says what is wrong with it.
func TestAnswers(t *testing.T) {
	run := func(runs string) string { return `{"instance":"a","number":1,"runs":[` + runs + `]}` }
	for _, c := range []struct{ body, want string }{
		{`<html>`, "invalid character '<'"},
		{`{"instance":"a"`, "unexpected EOF"},
		{run(`{"first":"1","count":1}`) + "{}", "more than one JSON value"},
		{`{"number":1,"runs":[{"first":"1","count":1}]}`, `instance is "", want 1 to 128 bytes`},
		{`{"instance":"` + strings.Repeat("x", 129) + `","number":1}`, `instance is "xxxxxxxxxxxxxxxx", want 1 to 128 bytes`},
		{`{"instance":"` + strings.Repeat("x", 128) + `","number":1}`, "no ids, want 1 to 100"},
		{`{"instance":"a","runs":[{"first":"1","count":1}]}`, "number is 0, want 1 or more"},
		{`{"instance":"a","number":1}`, "no ids, want 1 to 100"},
		{run(``), "no ids, want 1 to 100"},
		{run(`{"first":1,"count":1}`), "cannot unmarshal number into Go struct field .runs.first of type string"},
		{run(`{"first":"x","count":1}`), `a run has 1 ids from "x"`},
		{run(`{"first":"9223372036854775808","count":1}`), "9223372036854775808"},
		{run(`{"first":"0","count":1}`), "a run has 1 ids from \"0\", want 1 or more ids, the first 1 or more"},
		{run(`{"first":"-5","count":1}`), `a run has 1 ids from "-5"`},
		{run(`{"first":"5","count":0}`), `a run has 0 ids from "5"`},
		{run(`{"first":"9223372036854775807","count":2}`), `a run has 2 ids from "9223372036854775807"`},
		{run(`{"first":"5","count":3},{"first":"7","count":1}`), "a run starts at 7, want more than 7, the last id of the run before it"},
		{`{"instance":"a","kind":"slots","number":1,"runs":[{"first":"5","count":1}]}`, "kind slots"},
		{run(`{"first":"5","count":101}`), "more ids than the 100 that were requested"},
		{run(`{"first":"5","count":60},{"first":"500","count":60}`), "more ids than the 100 that were requested"},
		{run(`{"first":"5","count":60},{"first":"500","count":9223372036854775}`), "more ids than the 100 that were requested"},
		{run(`{"first":"5","count":1}`) + strings.Repeat(" ", 10496), "more than 10496 bytes for 100 ids"},
	} {
		server := newFake("a", 1)
		server.body = c.body
		_, err := tryOpen(t.Context(), Config{MaxIDs: 100}, server)
		if !errors.Is(err, ErrAnswer) || errors.Is(err, uid.ErrUnavailable) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "http://ids-1/v1/orders/runs") {
			t.Errorf("%.80s: New() = %v, want %q", c.body, err, c.want)
		}
	}
}

// FuzzAnswer: whatever a server answers, read fails or returns runs of ids above 0, in
// ascending order, and no more than were asked for.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"instance":"a","number":1,"runs":[{"first":"5","count":3},{"first":"9","count":1}]}`), int64(10))
	f.Add([]byte(`{"instance":"a","number":1,"runs":[{"first":"9223372036854775807","count":1}]}`), int64(1))
	f.Fuzz(func(t *testing.T, body []byte, n int64) {
		var a answer
		if n < 1 || a.read(body, n) != nil {
			return
		}
		last, count := int64(0), int64(0)
		for _, run := range a.runs {
			if run.First <= last || run.N < 1 || run.Last() < run.First {
				t.Fatalf("%s: run %v after %d", body, run, last)
			}
			last, count = run.Last(), count+run.N
		}
		if count != a.count || count < 1 || count > n || a.Instance == "" || a.Number < 1 {
			t.Fatalf("%s: %+v", body, a)
		}
	})
}

// A server that refuses fails calls at once, one that is busy is waited for. Redirects are
// not followed. The error has the reason that the server gives, if it gives one.
func TestStatuses(t *testing.T) {
	long, cut := strings.Repeat("x", 999), `: "`+strings.Repeat("x", 200)+`"`
	for _, tt := range []struct {
		status     int
		body, want string
	}{
		{301, `<html>`, ""}, {307, `<html>`, ""}, {400, `<html>`, ""}, {401, `<html>`, ""}, {403, `<html>`, ""}, {404, `<html>`, ""},
		{405, `<html>`, ""}, {413, `<html>`, ""}, {408, `<html>`, ""}, {429, `<html>`, ""}, {500, `<html>`, ""}, {502, `<html>`, ""},
		{503, `<html>`, ""},
		{404, `{"title":"T","detail":"why"}`, `: "why"`},
		{404, `{"title":"T"}`, `: "T"`},
		{404, `{"detail":"` + long + `"}`, cut},
		{404, `{"title":"` + long + `"}`, cut},
	} {
		synctest.Test(t, func(t *testing.T) {
			server := newFake("a", 1)
			server.status, server.body, server.header = tt.status, tt.body, http.Header{"Location": {"http://ids-2/"}}
			_, err := tryOpen(t.Context(), Config{}, server)
			prefix, busy := "uidclient: every server refuses", tt.status == 408 || tt.status == 429 || tt.status >= 500
			if busy {
				prefix = "uidclient: no server answered for"
			}
			want := fmt.Sprintf(`%s "orders": http://ids-1/v1/orders/runs: status %d %s%s`, prefix, tt.status, http.StatusText(tt.status), tt.want)
			if !strings.HasPrefix(fmt.Sprint(err), want) || errors.Is(err, uid.ErrUnavailable) != busy {
				t.Errorf("New() = %v, want %s; busy: %v", err, want, busy)
			}
			if got, ok := errors.AsType[*StatusError](err); !ok || got.Status != tt.status || got.Server != "http://ids-1/v1/orders/runs" {
				t.Errorf("New() = %v, want a StatusError of %d", err, tt.status)
			}
		})
	}
}

// A name that the server comes to know later, or a token that it accepts again, is
// noticed without a call that fails.
func TestRefusedForAWhile(t *testing.T) {
	bubble(t, Config{MaxAge: uid.Unlimited}, 1, func(t *testing.T, c *Client, servers []*fake) {
		servers[0].fail(404, "")
		take(t, c, 1, 128)
		if _, err := c.Wait(t.Context()); err == nil || errors.Is(err, uid.ErrUnavailable) {
			t.Errorf("Wait() = %v, want a refusal", err)
		}
		time.Sleep(time.Minute) // it is refused again and again
		servers[0].up()
		time.Sleep(time.Minute)
		synctest.Wait()
		take(t, c, 129, 10)
		servers[0].fail(404, "")
		_, _ = drain(t, c)
		need.Must(t, c.Close())
	})
}

// A server that asks to be left alone is, for as long as it says, up to a minute.
func TestRetryAfter(t *testing.T) {
	for seconds, want := range map[string]time.Duration{"30": 30 * time.Second, "3600": time.Minute, "99999999999": time.Minute} {
		bubble(t, Config{}, 1, func(t *testing.T, c *Client, servers []*fake) {
			servers[0].fail(503, seconds)
			take(t, c, 1, 128)
			time.Sleep(time.Second)
			before := servers[0].requests()
			time.Sleep(want - 2*time.Second)
			if n := servers[0].requests() - before; n != 0 {
				t.Errorf("%d requests, want none for %v", n, want)
			}
			servers[0].up()
			time.Sleep(2 * time.Second)
			take(t, c, 129, 1)
		})
	}
}

// The client asks again when the first of its servers may be asked, and not the others.
func TestLeastRetryAfter(t *testing.T) {
	for _, seconds := range []int{1, 3} {
		bubble(t, Config{}, 2, func(t *testing.T, c *Client, servers []*fake) {
			servers[0].fail(503, "30")
			servers[1].fail(503, fmt.Sprint(seconds))
			_, err := drain(t, c)
			servers[1].up()
			began := time.Now()
			id, waited := c.Wait(t.Context())
			if took := time.Since(began); id != 1_000_000 || took != time.Duration(seconds)*time.Second {
				t.Errorf("after %v: Wait() = %d, %v in %v, want an id of the second server in %d s", err, id, waited, took, seconds)
			}
			if n := servers[0].requests(); n != 2 {
				t.Errorf("%d requests to the other server, want 2: it wants to be left alone", n)
			}
		})
	}
}

// A server that has too little time is asked for fewer ids, whatever another one says. While
// it does not say how long it is busy, it is asked less and less often.
func TestBusy(t *testing.T) {
	bubble(t, Config{MaxAge: uid.Unlimited}, 2, func(t *testing.T, c *Client, servers []*fake) {
		take(t, c, 1, 100)
		servers[0].fail(http.StatusServiceUnavailable, "")
		servers[1].fail(http.StatusInternalServerError, "")
		before := servers[0].requests()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for ctx.Err() == nil {
			_, _ = c.Wait(ctx)
		}
		synctest.Wait() // no fetch is under way
		asked := servers[0].asked[before:]
		if n := len(asked); n < 5 || n > 20 {
			t.Fatalf("%d requests in a minute, want a few: it backs off", n)
		}
		if asked[1] > asked[0]/2 {
			t.Errorf("asked for %v ids, want half of it after the first", asked)
		}
	})
}

// If a pause ends while another server is asked, the client does not wait longer.
func TestPauseIsOver(t *testing.T) {
	bubble(t, Config{}, 2, func(t *testing.T, c *Client, servers []*fake) {
		servers[0].down()
		servers[1].hang()
		_, err := drain(t, c)
		if unavailable, ok := errors.AsType[*UnavailableError](err); !ok || unavailable.Retry != time.Millisecond {
			t.Errorf("%+v, want a pause of 1 ms", err)
		}
	})
}
