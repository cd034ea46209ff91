package main

import (
	"bufio"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/cmd/internal/bench"
)

// What a client reads of an answer: how many ids it has, and whether they are ids.
func TestAnswers(t *testing.T) {
	http200 := func(body string) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
	for _, test := range []struct {
		answer string
		read   func(*bufio.Reader) (int, error)
		ids    int
		failed string
	}{
		{http200("17\n18\n4\n"), answerOf(lines), 3, ""},
		{http200(""), answerOf(nothing), 0, ""},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n17\n1\r\n3\r\n8\n4\r\n1\r\n\n\r\n0\r\n\r\n", answerOf(lines), 3, ""},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n17\n1\r\n0\r\n", answerOf(lines), 0, "EOF"},
		{http200("17\n\n"), answerOf(lines), 0, "is no id"},
		{http200("1x\n"), answerOf(lines), 0, "is no id"},
		{http200(`{"runs":[{"first":"5","count":600},{"first":"700","count":400}]}`), answerOf(runs), 1000, ""},
		{http200(`{"runs":[{"first":5,"count":"x"}]}`), answerOf(runs), 0, "cannot unmarshal"},
		{"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy", answerOf(lines), 0, "503: busy"},
		{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1\n", answerOf(lines), 0, "unexpected EOF"},
		{":41\r\n", integer(1000), 1000, ""},
		{"-ERR no\r\n", integer(1), 1, "redis answers"},
	} {
		ids, err := test.read(bufio.NewReader(strings.NewReader(test.answer)))
		if failed := fmt.Sprint(err); test.failed == "" && (err != nil || ids != test.ids) || !strings.Contains(failed, test.failed) {
			t.Errorf("%q: %d ids, %v; want %d, %s", test.answer, ids, err, test.ids, test.failed)
		}
	}
}

// sampled returns the figures of a sample by their units.
func sampled(t *testing.T, task bench.Task) func(unit string) float64 {
	t.Helper()
	sample, err := task.Sample(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return func(unit string) float64 {
		for _, f := range sample {
			if f.Unit == unit {
				return f.Samples.Median()
			}
		}
		return math.NaN()
	}
}

// A load counts what the server answers, at full speed and at a fixed rate.
func TestLoad(t *testing.T) {
	var answered atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answered.Add(1)
		fmt.Fprint(w, "7\n8\n")
	}))
	defer server.Close()
	l := &load{Time: 20 * time.Millisecond, Open: func() (caller, error) {
		return wire(server.Listener.Addr().String(), oneID, answerOf(lines))
	}}
	of := sampled(t, l)
	if calls := of(bench.Calls); !(calls > 0) || of(idsRate) != 2*calls {
		t.Errorf("%v calls, %v ids", calls, of(idsRate))
	}
	half := &latency{load: l, Half: l, Time: l.Time}
	before := answered.Load()
	of = sampled(t, half)
	due := l.rate / 2 * l.Time.Seconds()
	if made := float64(answered.Load() - before); made < due-connections || made > due+connections {
		t.Errorf("%v calls were made, want %v", made, due)
	}
	if p50, most := of("p50 ms"), of("p99.99 ms"); !(p50 > 0 && most >= p50) {
		t.Errorf("p50 is %v ms, p99.99 %v ms", p50, most)
	}
	server.CloseClientConnections()
	l.Open = func() (caller, error) { return wire("127.0.0.1:1", oneID, answerOf(lines)) }
	if _, err := l.Sample(t.Context()); err == nil {
		t.Error("a server that is unavailable is no error")
	}
}

// The calls that are due while a server hangs count from when they were due.
func TestLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := func() (caller, error) {
			took := 50 * time.Millisecond // of the first call
			return caller{close: func() error { return nil }, call: func() (int, error) {
				time.Sleep(took)
				took = time.Millisecond
				return 1, nil
			}}, nil
		}
		l := &latency{load: &load{Open: open}, Half: &load{rate: 2 * connections * 100}, Time: 2 * time.Second}
		of := sampled(t, l)
		// A connection has 200 calls, of which the first six take 50, 41, 32, 23, 14 and 5 ms.
		for i, want := range []float64{1, 32, 50, 50} {
			if got := of(milliseconds(quantiles[i])); math.Abs(got/want-1) > 0.01 {
				t.Errorf("p%g is %v ms, want %v", quantiles[i], got, want)
			}
		}
	})
}

// The rate is read from the line of the command. What is no such line is an error.
func TestReadRate(t *testing.T) {
	const head = `"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"` + "\n"
	if rate, err := readRate([]byte(head + `"INCR orders","71428.57","0.25","0.08","0.2","0.4","0.6","1.1"` + "\n")); rate != 71428.57 || err != nil {
		t.Errorf("%v, %v", rate, err)
	}
	for _, text := range []string{"", head, `"INCR orders","x"`, `"PING","1.0","2.0"`, "Error from server: ERR no\n"} {
		if rate, err := readRate([]byte(text)); err == nil {
			t.Errorf("%q: %v, want an error", text, rate)
		}
	}
}

// The page shows which bars are missed.
func TestServerPage(t *testing.T) {
	r := &bench.Result{Rounds: 3, Seconds: 1}
	add := func(name, unit string, samples ...float64) {
		for _, v := range samples {
			r.Add(bench.Of(name, bench.Setting{}, unit, v))
		}
	}
	for name, figures := range map[string][2]float64{emptyName: {100, 0}, reserveName: {110, 0}, constantName: {90, 0}, oneName: {84, 84}, textName: {1, 9e6}, runsName: {1, 11e6}} {
		add(name, bench.Calls, figures[0])
		add(name, idsRate, figures[1])
	}
	for i, q := range quantiles {
		add(oneName, milliseconds(q), float64(i))
		add(emptyName, milliseconds(q), float64(i)/4)
	}
	add(idleName, idleMemory, 9000)
	add(idleName, idleGoroutines, 1)
	for _, c := range []struct {
		name  string
		depth int
		calls []float64
	}{{redisPeer, 1, []float64{100, 200, 100}}, {redisOurs, 1, []float64{84, 166, 90}}, {redisBoth, 1, []float64{70, 150, 80}},
		{redisPeer, 16, []float64{100}}, {redisOurs, 16, []float64{86}}, {redisBoth, 16, []float64{70}}} {
		add(c.name, callsAt(c.depth), c.calls...)
	}
	text, stderr, code := show(t, r, "server", "--check")
	if code != 1 || !strings.Contains(stderr, "3 bars are missed") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	checkTables(t, text)
	for _, want := range []string{"| 0.840 × | **MISSED** |", "| 9.00 million | **MISSED** |", "| 11.0 million | pass |", "| 1.00 ms; of the empty handler 0.250 ms | pass |", "9,000",
		"`-P 1` | ≥ 0.85 × Redis | 0.840 × | **MISSED** |", "`-P 16` | ≥ 0.85 × Redis | 0.860 × | pass |", " × 0.840 |"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q:\n%s", want, text)
		}
	}
}
