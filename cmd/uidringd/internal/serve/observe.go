package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/time/rate"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/uidring/uidring/cmd/uidringd/internal/gate"
	"github.com/uidring/uidring/cmd/uidringd/internal/generators"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/uid/uidprom"
)

// Metric describes a metric.
type Metric struct {
	Name, Type, Help string
	Labels           []string
}

// Metrics are those of the server itself.
var Metrics = []Metric{
	{"uidringd_request_duration_seconds", "histogram", "Time from a request's header to the end of its response. Probes and scrapes are left out.", []string{"route", "code"}},
	{"uidringd_caller_requests_total", "counter", "Requests by the name of the caller's token: (certificate) for callers with a client certificate, (none) for all others. Probes and scrapes are left out.",
		[]string{"caller", "code"}},
	{"uidringd_requests_in_flight", "gauge", "Requests in progress.", nil},
	{"uidringd_generator_ready", "gauge", "1 while the generator can issue ids.", []string{"generator"}},
	{"uidringd_connections", "gauge", "Open connections.", nil},
	{"uidringd_connections_idle", "gauge", "Open connections without a request.", nil},
	{"uidringd_connections_ended_total", "counter", "Connections closed to make room for new ones.", nil},
	{"uidringd_connections_refused_total", "counter", "Connections refused because their address already had limits.per_address connections, none of them idle.", nil},
	{"uidringd_certificate_not_after_timestamp_seconds", "gauge", "When the certificate in use expires.", nil},
}

// opts names a metric for its collector.
func opts(name string) prometheus.Opts {
	i := slices.IndexFunc(Metrics, func(m Metric) bool { return m.Name == name })
	return prometheus.Opts{Name: name, Help: Metrics[i].Help}
}

// observer counts and logs requests of every protocol.
type observer struct {
	registry     *prometheus.Registry // what /metrics has
	took         *prometheus.HistogramVec
	callers      *prometheus.CounterVec
	inFlight     prometheus.Gauge
	good, failed *accessLog
}

func newObserver(set *generators.Set, logger *slog.Logger, perSecond float64) *observer {
	took := opts("uidringd_request_duration_seconds")
	o := &observer{
		registry: prometheus.NewRegistry(),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: took.Name, Help: took.Help,
			Buckets: []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"route", "code"}),
		callers:  prometheus.NewCounterVec(prometheus.CounterOpts(opts("uidringd_caller_requests_total")), []string{"caller", "code"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts(opts("uidringd_requests_in_flight"))),
		good:     newAccessLog(logger, perSecond),
		failed:   newAccessLog(logger, perSecond),
	}
	generators, _ := uidprom.NewFunc(set.Stats) // fails for nil alone
	o.registry.MustRegister(o.took, o.callers, o.inFlight, generators,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewBuildInfoCollector())
	return o
}

// collectors returns the metrics of connections, of certificates, and of which generators are
// ready.
func (s *server) collectors() []prometheus.Collector {
	gauge := func(name string, labels prometheus.Labels, read func() float64) prometheus.Collector {
		o := opts(name)
		o.ConstLabels = labels
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts(o), read)
	}
	counter := func(name string, read func() int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts(opts(name)), func() float64 { return float64(read()) })
	}
	all := []prometheus.Collector{
		gauge("uidringd_connections", nil, func() float64 { return float64(s.doors.Counts().Open) }),
		gauge("uidringd_connections_idle", nil, func() float64 { return float64(s.doors.Counts().Idle) }),
		counter("uidringd_connections_ended_total", func() int64 { return s.doors.Counts().Ended }),
		counter("uidringd_connections_refused_total", func() int64 { return s.doors.Counts().Refused }),
	}
	if s.files != nil {
		all = append(all, gauge("uidringd_certificate_not_after_timestamp_seconds", nil, func() float64 { return float64(s.files.end().Unix()) }))
	}
	for _, name := range s.set.Names() {
		all = append(all, gauge("uidringd_generator_ready", prometheus.Labels{"generator": name}, func() float64 {
			if s.look()[name] != nil {
				return 0
			}
			return 1
		}))
	}
	return all
}

// recorder remembers what an answer was, as an [api.Observer] too. Once a whole request of a caller
// who may send it is there, its connection is busy.
type recorder struct {
	http.ResponseWriter
	service.Request
	ctx      context.Context // of the request
	part     bool            // of the body has not arrived
	admitted bool
}

func (r *recorder) Admitted(c service.Caller) {
	r.Caller, r.admitted = c, true
	r.arrived(r.part)
}

// arrived is told whether a part of the body has not arrived.
func (r *recorder) arrived(part bool) {
	if r.part = part; r.admitted && !part {
		gate.From(r.ctx).Busy()
	}
}

// body tells its recorder when all of it has arrived.
type body struct {
	io.ReadCloser
	of *recorder
}

func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.of.arrived(false)
	}
	return n, err
}

func (r *recorder) Failed(e *service.Error) { r.Request.Failed = e }

func (r *recorder) WriteHeader(status int) {
	if r.Status == 0 && status >= http.StatusOK {
		r.Status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.Status == 0 {
		r.Status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.Bytes += int64(n)
	return n, err
}

// Unwrap is for [http.ResponseController].
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Flush implements [http.Flusher], which gRPC streams need.
func (r *recorder) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() }

// monitoring are the routes of probes and scrapes. They come however few ids callers want: among
// requests, they would fill the log and dilute the ratio of failures.
var monitoring = []string{
	"GET /healthz", "GET /readyz", "GET /metrics", "redis PING",
	grpc_health_v1.Health_Check_FullMethodName, grpc_health_v1.Health_List_FullMethodName, grpc_health_v1.Health_Watch_FullMethodName,
}

func (o *observer) observe(r *service.Request) {
	log, status := o.good, max(r.Status, http.StatusOK)
	if r.Failed != nil {
		status = r.Failed.Kind.Status
	}
	wrong := status >= http.StatusBadRequest && status < http.StatusInternalServerError // such as a probe without a token
	if !wrong && slices.Contains(monitoring, r.Route) {
		return
	}
	if status >= http.StatusBadRequest {
		log = o.failed
	}
	code := strconv.Itoa(status)
	took := o.took.WithLabelValues(r.Route, code)
	for range r.Count {
		took.Observe(r.Ended.Sub(r.Began).Seconds())
	}
	o.callers.WithLabelValues(r.Caller.Label(), code).Add(float64(r.Count))
	log.log(r, status)
}

// observed measures and logs requests of HTTP. While the server stops, answers end their
// connections.
func (s *server) observed(next http.Handler, o *observer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.inFlight.Inc()
		defer o.inFlight.Dec()
		if s.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		seen := &recorder{ResponseWriter: w, ctx: r.Context(), part: r.ContentLength != 0}
		seen.Protocol, seen.Remote, seen.Count, seen.Began = r.Proto, r.RemoteAddr, 1, time.Now()
		if seen.part {
			r.Body = body{r.Body, seen}
		}
		next.ServeHTTP(seen, r) // whatever panics ends the connection, and is logged by net/http
		seen.Route, seen.Ended = r.Pattern, time.Now()
		o.observe(&seen.Request)
	})
}

// accessLog writes lines about requests, a bounded number a second. A line says how
// many requests it leaves out.
type accessLog struct {
	logger  *slog.Logger
	limit   *rate.Limiter
	skipped atomic.Int64 // requests since the last line
}

func newAccessLog(logger *slog.Logger, perSecond float64) *accessLog {
	return &accessLog{logger: logger, limit: rate.NewLimiter(rate.Limit(perSecond), int(math.Ceil(perSecond)))}
}

// log writes a line about a request that has just ended, or counts it as left out. The line
// has the request's route, and neither path nor query: a path can hold an id, and clients
// put anything there.
func (a *accessLog) log(r *service.Request, status int) {
	if !a.limit.AllowN(r.Ended, 1) {
		a.skipped.Add(int64(r.Count))
		return
	}
	line := []slog.Attr{
		slog.String("route", r.Route), slog.String("proto", r.Protocol), slog.Int("status", status), slog.Int64("bytes", r.Bytes), slog.Duration("took", r.Ended.Sub(r.Began)),
		slog.String("remote", r.Remote), slog.String("caller", r.Caller.Name()), slog.Int64("skipped", a.skipped.Swap(0)+int64(r.Count-1)),
	}
	if r.Failed != nil && r.Failed.Cause != nil {
		line = append(line, slog.Any("cause", r.Failed.Cause))
	}
	a.logger.LogAttrs(context.Background(), slog.LevelInfo, "request", line...)
}
