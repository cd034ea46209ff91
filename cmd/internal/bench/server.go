package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"text/template"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/uidring/uidring/cmd/internal/measure"
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

// servers are the results about uidringd.
type servers struct {
	results
	empty, reserve, constant *load // floors
	one, text, runs          *load
	others                   []*load
	half, floor              *latency // at the same rate
	anew                     renewal
	idle                     *idle
	redis                    *redisRows
}

// benchServers measures uidringd, and writes its page.
func benchServers(ctx context.Context, r results, command, output string, check bool) (err error) {
	dir, err := folder()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err := buildUidringd(dir)
	if err != nil {
		return err
	}
	s := &servers{results: r}
	ends, err := s.plan(binary)
	defer func() {
		for _, end := range ends {
			err = errors.Join(err, end())
		}
	}()
	if err != nil {
		return err
	}
	tasks := []measure.Task{s.anew, s.empty, s.reserve, s.constant, s.one, s.half, s.floor, s.text, s.runs}
	for _, l := range s.others {
		tasks = append(tasks, l)
	}
	tasks = append(append(tasks, s.redis.tasks...), s.idle)
	done, began := 0, time.Now()
	err = measure.Rounds(ctx, s.Count, tasks, &s.Calm, func() {
		done++
		fmt.Fprintf(os.Stderr, "%d of %d samples\n", done, s.Count*len(tasks))
	})
	if err != nil {
		return err
	}
	s.Started, s.Took = began, time.Since(began)
	page, err := s.page(command)
	if err != nil {
		return err
	}
	return publish(page, missed(s.bars()), output, check)
}

// plan starts the servers. ends stop them, even after an error.
func (s *servers) plan(binary string) (ends []func() error, err error) {
	empty, err := startEmpty()
	if err != nil {
		return nil, err
	}
	ends = append(ends, empty.stop)
	reserve, err := startEmpty("GOGC=800") // garbage grows to 32 MB, as in uidringd
	if err != nil {
		return ends, err
	}
	ends = append(ends, reserve.stop)
	ours, err := startUidringd(binary)
	if err != nil {
		return ends, err
	}
	ends = append(ends, ours.stop)
	s.anew = renewal{empty, reserve, ours}
	http := func(name, request string, p *process, body func([]byte) (int, error)) *load {
		return &load{Name: name, Time: s.Time, Process: p, Open: func() (caller, error) { return wire(p.address, request, answerOf(body)) }}
	}
	s.empty = http("an empty net/http handler", noID, empty, nothing)
	s.reserve = http("the same, with garbage collected as rarely as uidringd's", noID, reserve, nothing)
	s.constant = http("a net/http handler that answers a constant of 19 digits", "GET /constant HTTP/1.1\r\nHost: empty\r\n\r\n", empty, lines)
	s.one = http("uidringd, `GET /v1/{name}`", oneID, ours, lines)
	s.text = http("uidringd, `GET /v1/{name}?n=1000`", thousand, ours, lines)
	s.runs = http("uidringd, `POST /v1/{name}/runs?n=1000`", inRuns, ours, runs)
	s.half = &latency{load: s.one, Half: s.one, Time: s.Paced}
	s.floor = &latency{load: s.empty, Half: s.one, Time: s.Paced}
	s.idle = &idle{Start: func() (*process, error) { return startUidringd(binary) }}

	client, end, err := openRedis()
	if err != nil {
		return ends, err
	}
	ends = append(ends, end)
	redis := func(name, command string, ids int) *load {
		return &load{Name: name, Time: s.Time, Open: func() (caller, error) { return wire(client.Options().Addr, command, integer(ids)) }}
	}
	s.others = []*load{redis("Redis, `INCR`", "INCR orders\r\n", 1), redis("Redis, `INCRBY 1000`", "INCRBY orders 1000\r\n", 1000)}
	dsn := os.Getenv("UIDRING_TEST_POSTGRES")
	if dsn == "" {
		return ends, errors.New("UIDRING_TEST_POSTGRES is empty, want the URL of a PostgreSQL")
	}
	rows, more, err := planRedis(binary, dsn, s.Time)
	ends = append(ends, more...)
	if err != nil {
		return ends, err
	}
	s.redis = rows
	_, table, end, err := openPostgres(dsn)
	if err != nil {
		return ends, err
	}
	ends = append(ends, end)
	s.others = append(s.others, &load{Name: "PostgreSQL, `UPDATE … RETURNING`", Time: s.Time, Open: func() (caller, error) {
		conn, err := pgx.Connect(context.Background(), dsn)
		if err != nil {
			return caller{}, err
		}
		statement := "UPDATE " + table + " SET next_id = next_id + 1 WHERE table_name = 'orders' RETURNING next_id"
		var id int64
		return caller{
			call:  func() (int, error) { return 1, conn.QueryRow(context.Background(), statement).Scan(&id) },
			close: func() error { return conn.Close(context.Background()) },
		}, nil
	}})
	return ends, nil
}

// bars are what the project promises about the server.
func (s *servers) bars() []bar {
	ratio := s.one.over(s.empty).Median()
	p99, floor := s.half.Took[1].Median(), s.floor.Took[1].Median()
	return append([]bar{
		{What: "one id a request", Want: "≥ 0.85 × an empty handler", Measured: fmt.Sprintf("%.3f ×", ratio), Pass: ratio >= 0.85},
		{What: "1,000 ids a request, as text", Want: "≥ 10 million ids/s", Measured: measure.Figure(s.text.IDs.Median()/1e6) + " million", Pass: s.text.IDs.Median() >= 1e7},
		{What: "1,000 ids a request, as runs", Want: "≥ 10 million ids/s", Measured: measure.Figure(s.runs.IDs.Median()/1e6) + " million", Pass: s.runs.IDs.Median() >= 1e7},
		{What: "p99 at half of the capacity", Want: "≤ 1 ms", Measured: measure.Figure(p99) + " ms; of the empty handler " + measure.Figure(floor) + " ms", Pass: p99 <= 1},
	}, s.redis.bars()...)
}

func (s *servers) page(command string) (string, error) {
	t, err := template.New("server").Parse(serverText)
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	err = t.Execute(&text, map[string]any{
		"S": s, "Command": command, "Setting": s.setting(), "Bars": barTable(s.bars()), "Connections": connections, "Idlers": number(idlers),
		"Redis": s.redis.table(), "Loads": s.loadTable(), "Latency": s.latencyTable(),
		"Memory": bold(s.idle.Memory), "Goroutines": bold(s.idle.Goroutines),
		"Requests": measure.Figure(s.one.Calls.Median()), "P999": measure.Figure(s.half.Took[2].Median()),
	})
	return text.String(), err
}

func (s *servers) loadTable() string {
	rows := [][]string{{"server and call", ">calls/s", ">ids/s", ">× the empty handler's calls", ">µs of the server's processors a call"}}
	for _, l := range append([]*load{s.empty, s.reserve, s.constant, s.one, s.text, s.runs}, s.others...) {
		cpu := "-"
		if l.Process != nil {
			cpu = bold(l.CPU)
		}
		ids := "-"
		if l != s.empty && l != s.reserve && l != s.constant {
			ids = bold(l.IDs)
		}
		rows = append(rows, []string{l.Name, bold(l.Calls), ids, fmt.Sprintf("%.2f", l.over(s.empty).Median()), cpu})
	}
	return table(rows...)
}

func (s *servers) latencyTable() string {
	head := []string{"server and call", ">calls/s"}
	for _, q := range quantiles {
		head = append(head, fmt.Sprintf(">p%g, ms", q))
	}
	rows := [][]string{head}
	for _, l := range []*latency{s.floor, s.half} {
		row := []string{l.Name, bold(l.Rate)}
		for _, took := range l.Took {
			row = append(row, bold(took))
		}
		rows = append(rows, row)
	}
	return table(rows...)
}
