package serve

import (
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/time/rate"

	"github.com/uidring/uidring/cmd/uidringd/config"
	"github.com/uidring/uidring/cmd/uidringd/generators"
	"github.com/uidring/uidring/cmd/uidringd/service"
	"github.com/uidring/uidring/uid/uidprom"
)

// metrics are what /metrics has beside the generators' own.
type metrics struct {
	registry *prometheus.Registry
	took     *prometheus.HistogramVec
	callers  *prometheus.CounterVec
	known    sync.Map // of *counts by series: a search by labels takes longer
	inFlight prometheus.Gauge
}

// series is what a request is counted under.
type series struct {
	route, caller string
	status        int
}

// counts are those of a series.
type counts struct {
	took  prometheus.Observer
	calls prometheus.Counter
}

func (m *metrics) of(s series) *counts {
	c, found := m.known.Load(s)
	if !found {
		code := strconv.Itoa(s.status)
		c, _ = m.known.LoadOrStore(s, &counts{m.took.WithLabelValues(s.route, code), m.callers.WithLabelValues(s.caller, code)})
	}
	return c.(*counts)
}

func newMetrics(set *generators.Set, more ...prometheus.Collector) (*metrics, error) {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "uidringd_request_duration_seconds",
			Help:    "Time from a request's header to the end of its answer.",
			Buckets: []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"route", "code"}),
		callers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "uidringd_caller_requests_total",
			Help: "Requests by the name of the caller's token; of all certificates under (certificate), of all others under (none).",
		}, []string{"caller", "code"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "uidringd_requests_in_flight", Help: "Requests that have begun and not ended."}),
	}
	all := []prometheus.Collector{
		m.took, m.callers, m.inFlight,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewBuildInfoCollector(),
	}
	clocked := map[string]uidprom.Generator{}
	for name, g := range set.Clocked() {
		clocked[name] = g
	}
	if len(clocked) > 0 {
		c, err := uidprom.New(clocked)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	counters, err := uidprom.NewSegments(set.Counters)
	if err != nil {
		return nil, err
	}
	for _, c := range append(append(all, counters), more...) {
		if err := m.registry.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// recorder remembers what an answer was.
type recorder struct {
	http.ResponseWriter
	status int
	failed *service.Error // nil without one
	caller service.Caller
	bytes  int64
}

var recorders = sync.Pool{New: func() any { return new(recorder) }}

// Admitted implements [service.Observer].
func (r *recorder) Admitted(c service.Caller) { r.caller = c }

// Failed implements [service.Observer].
func (r *recorder) Failed(e *service.Error) { r.failed = e }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= http.StatusOK {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// Unwrap is for [http.ResponseController].
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Flush implements [http.Flusher], which gRPC streams need.
func (r *recorder) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() }

// observed measures and logs requests. While the server stops, answers end their
// connections.
func (s *server) observed(next http.Handler, how config.Log) http.Handler {
	start, m := time.Now(), s.metrics // time.Since reads one clock, time.Now two
	good, failed := newAccessLog(s.logger, how.Requests), newAccessLog(s.logger, how.Requests)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Since(start)
		m.inFlight.Inc()
		defer m.inFlight.Dec()
		if s.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		seen := recorders.Get().(*recorder)
		*seen = recorder{ResponseWriter: w}
		next.ServeHTTP(seen, r) // whatever panics ends the connection, and is logged by net/http
		about := *seen
		*seen = recorder{}
		recorders.Put(seen)
		about.status = max(about.status, http.StatusOK)
		if about.failed != nil {
			about.status = int(about.failed.Kind)
		}

		ended := time.Since(start)
		took := ended - began
		count := m.of(series{r.Pattern, label(about.caller), about.status})
		count.took.Observe(took.Seconds())
		count.calls.Inc()
		log := good
		if about.status >= http.StatusBadRequest {
			log = failed
		}
		if log.due(start.Add(ended)) {
			log.write(r, &about, took)
		}
	})
}

// label returns what a caller's requests are counted under.
func label(c service.Caller) string {
	switch {
	case c.Token():
		return c.Name()
	case c.Name() != "":
		return "(certificate)"
	}
	return "(none)"
}

// accessLog writes lines about requests, a bounded number a second. A line says how
// many requests it leaves out.
type accessLog struct {
	logger  *slog.Logger
	began   time.Time
	limit   *rate.Limiter
	quiet   atomic.Int64 // ns after began to which no line is due; due reads and writes it
	skipped atomic.Int64 // requests since the last line
}

// pause is for how long no line is due after the limit has refused one. Most requests
// of a busy server then do not ask the limit, which has a lock.
const pause = 10 * time.Millisecond

func newAccessLog(logger *slog.Logger, perSecond float64) *accessLog {
	return &accessLog{logger: logger, began: time.Now(), limit: rate.NewLimiter(rate.Limit(perSecond), int(math.Ceil(perSecond)))}
}

// due reports whether there is to be a line about a request that has ended now.
func (a *accessLog) due(now time.Time) bool {
	at := now.Sub(a.began)
	if at.Nanoseconds() >= a.quiet.Load() {
		if a.limit.AllowN(now, 1) {
			return true
		}
		a.quiet.Store((at + pause).Nanoseconds())
	}
	a.skipped.Add(1)
	return false
}

// write writes a line by the request's route. The path and the query are left out: a
// path can hold an id, and clients put anything there.
func (a *accessLog) write(r *http.Request, about *recorder, took time.Duration) {
	line := []slog.Attr{
		slog.String("route", r.Pattern), slog.String("proto", r.Proto), slog.Int("status", about.status), slog.Int64("bytes", about.bytes), slog.Duration("took", took),
		slog.String("remote", r.RemoteAddr), slog.String("caller", about.caller.Name()), slog.Int64("skipped", a.skipped.Swap(0)),
	}
	if about.failed != nil && about.failed.Cause != nil {
		line = append(line, slog.Any("cause", about.failed.Cause))
	}
	a.logger.LogAttrs(r.Context(), slog.LevelInfo, "request", line...)
}
