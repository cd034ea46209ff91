package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/jackc/pgx/v5"

	"github.com/uidring/uidring/cmd/internal/bench"
)

//go:embed server.md
var serverText string

// Requests of uidringd, and the empty handler's.
const (
	noID     = "GET /empty HTTP/1.1\r\nHost: empty\r\n\r\n"
	oneID    = "GET /v1/ids HTTP/1.1\r\nHost: uidringd\r\n\r\n"
	thousand = "GET /v1/ids?n=1000 HTTP/1.1\r\nHost: uidringd\r\n\r\n"
	inRuns   = "POST /v1/ids/runs?n=1000 HTTP/1.1\r\nHost: uidringd\r\nContent-Length: 0\r\n\r\n"
)

// Names of what is loaded.
const (
	emptyName    = "an empty net/http handler"
	reserveName  = "the same, with garbage collected as rarely as uidringd's"
	constantName = "a net/http handler that answers a constant of 19 digits"
	oneName      = "uidringd, `GET /v1/{name}`"
	textName     = "uidringd, `GET /v1/{name}?n=1000`"
	runsName     = "uidringd, `POST /v1/{name}/runs?n=1000`"
)

// servers is the benchmark of uidringd.
var servers = bench.Program{
	Title: "Benchmarks of uidringd", Duration: time.Second, Rounds: 7,
	Tasks: serverTasks, Bars: serverBars, Own: serverText,
	Data: serverData,
}

// running is what a benchmark has started, or the errors of starting it.
type running struct {
	ends []func() error
	err  error
}

// end ends the last one first.
func (r *running) end() (err error) {
	for _, end := range slices.Backward(r.ends) {
		err = errors.Join(err, end())
	}
	return err
}

// add keeps a process. One that has not started is of no use, but no nil.
func (r *running) add(p *process, err error) *process {
	if err != nil {
		r.err = errors.Join(r.err, err)
		return new(process)
	}
	r.ends = append(r.ends, p.stop)
	return p
}

// serverTasks starts the servers. end stops them, even after an error.
func serverTasks(_ context.Context, o bench.Options) (tasks []bench.Task, end func() error, err error) {
	run := new(running)
	dir, err := folder()
	if err != nil {
		return nil, run.end, err
	}
	run.ends = append(run.ends, func() error { return os.RemoveAll(dir) })
	binary, err := buildUidringd(dir)
	if err != nil {
		return nil, run.end, err
	}
	dsn, drop, err := openSchema()
	if err != nil {
		return nil, run.end, err
	}
	run.ends = append(run.ends, drop)
	empty := run.add(startEmpty())
	reserve := run.add(startEmpty("GOGC=800")) // garbage grows to 32 MB, as in uidringd
	ours := run.add(startUidringd(binary))
	peer := run.add(startRedis())
	http := func(name, request string, p *process, body func([]byte) (int, error)) *load {
		return &load{Name: name, Time: o.Duration, Process: p, Open: func() (caller, error) { return wire(p.address, request, answerOf(body)) }}
	}
	redis := func(name, command string, ids int) *load {
		return &load{Name: name, Time: o.Duration, Open: func() (caller, error) { return wire(peer.redis, command, integer(ids)) }}
	}
	without, one := http(emptyName, noID, empty, nothing), http(oneName, oneID, ours, lines)
	tasks = []bench.Task{
		renewal{empty, reserve, ours}, without, http(reserveName, noID, reserve, nothing),
		http(constantName, "GET /constant HTTP/1.1\r\nHost: empty\r\n\r\n", empty, digits), one,
		&latency{load: one, Half: one, Time: 5 * o.Duration}, &latency{load: without, Half: one, Time: 5 * o.Duration},
		http(textName, thousand, ours, lines), http(runsName, inRuns, ours, runs),
		redis("Redis, `INCR`", "INCR orders\r\n", 1), redis("Redis, `INCRBY 1000`", "INCRBY orders 1000\r\n", 1000),
	}
	tasks = append(tasks, &load{Name: "PostgreSQL, `UPDATE … RETURNING`", Time: o.Duration, Open: func() (caller, error) {
		conn, err := pgx.Connect(context.Background(), dsn)
		if err != nil {
			return caller{}, err
		}
		var id int64
		return caller{
			call:  func() (int, error) { return 1, conn.QueryRow(context.Background(), nextID).Scan(&id) },
			close: func() error { return conn.Close(context.Background()) },
		}, nil
	}})
	counters, err := redisTasks(run, binary, dsn, o.Duration)
	tasks = append(append(tasks, counters...), &idle{Start: func() (*process, error) { return startUidringd(binary) }})
	return tasks, run.end, errors.Join(err, run.err)
}

// serverBars are what the project promises about the server.
func serverBars(r *bench.Result) []bench.Bar {
	p := &page{r}
	ratio := p.of(oneName, bench.Calls).Over(p.of(emptyName, bench.Calls))
	p99, least := p.of(oneName, bench.P99).Median(), p.of(emptyName, bench.P99).Median()
	ids := func(what, name string) bench.Bar {
		rate := p.of(name, idsRate).Median()
		return bench.Bar{What: what, Want: "≥ 10 million ids/s", Measured: bench.Digits(rate/1e6) + " million", Pass: rate >= 1e7}
	}
	return append([]bench.Bar{
		{What: "one id a request", Want: "≥ 0.85 × an empty handler", Measured: fmt.Sprintf("%.3f ×", ratio), Pass: ratio >= 0.85},
		ids("1,000 ids a request, as text", textName),
		ids("1,000 ids a request, as runs", runsName),
		{What: "p99 at half of the capacity", Want: "≤ 1 ms", Measured: bench.Digits(p99) + " ms; of the empty handler " + bench.Digits(least) + " ms", Pass: p99 <= 1},
	}, p.redisBars()...)
}

// serverData is what server.md shows.
func serverData(r *bench.Result, _ []bench.Bar) any {
	p := &page{r}
	paced := []string{bench.PacedCalls}
	for _, q := range quantiles {
		paced = append(paced, milliseconds(q))
	}
	var pipelined []string
	for _, depth := range depths {
		pipelined = append(pipelined, callsAt(depth), processorsAt(depth))
	}
	return map[string]any{
		"Connections": connections,
		"Loads":       p.Grid("server and call", p.Names(bench.Setting{}, bench.Calls), emptyName, bench.Units(bench.Calls, idsRate, processors)),
		"Latencies":   p.Grid("server and call", []string{emptyName, oneName}, "", bench.Units(paced...)),
		"Redis":       p.Grid("server and call", []string{redisPeer, redisOurs, redisBoth}, redisPeer, bench.Units(pipelined...)),
		"Requests":    bench.Digits(p.of(oneName, bench.Calls).Median()),
		"P999":        bench.Digits(p.of(oneName, milliseconds(99.9)).Median()),
		"Idlers":      humanize.Comma(idlers),
		"Memory":      p.of(idleName, idleMemory).Bold(),
		"Goroutines":  p.of(idleName, idleGoroutines).Bold(),
	}
}
