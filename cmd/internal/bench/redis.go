package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/uidring/uidring/cmd/internal/measure"
)

// Processors of the comparison with Redis: a server has one, redis-benchmark the other.
var (
	serverCore = []string{"taskset", "-c", "0"}
	clientCore = []string{"taskset", "-c", "1"}
)

// depths are how many commands redis-benchmark sends before it reads an answer.
var depths = []int{1, 16}

// redisRows are what redis-benchmark measures.
type redisRows struct {
	anew  renewal
	peer  []*piped // Redis, by depths
	ours  []*piped // uidringd on one processor
	both  []*piped // uidringd on both processors, one of which the client has too
	tasks []measure.Task
}

// planRedis starts a Redis and two uidringd whose counters are in PostgreSQL. ends stop them.
func planRedis(binary, dsn string, time time.Duration) (r *redisRows, ends []func() error, err error) {
	defer func() {
		if err != nil {
			for _, end := range ends {
				err = errors.Join(err, end())
			}
			ends = nil
		}
	}()
	for _, tool := range []string{"taskset", "redis-benchmark", "redis-server"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, nil, err
		}
	}
	config, end, err := counterConfig(binary, dsn)
	if err != nil {
		return nil, nil, err
	}
	ends = append(ends, end)
	peer, err := startRedis(serverCore...)
	if err != nil {
		return nil, ends, err
	}
	ends = slices.Insert(ends, 0, peer.stop)
	uidringd := func(processors string, pin ...string) (*process, error) {
		p, err := startCounter(config, processors, append(pin, binary)...)
		if err == nil {
			ends = slices.Insert(ends, 0, p.stop)
		}
		return p, err
	}
	one, err := uidringd("1", serverCore...)
	if err != nil {
		return nil, ends, err
	}
	two, err := uidringd("2")
	if err != nil {
		return nil, ends, err
	}
	r = &redisRows{anew: renewal{one, two}}
	r.tasks = append(r.tasks, r.anew)
	for _, depth := range depths {
		row := func(name string, p *process) *piped {
			l := &piped{Name: name, Depth: depth, Time: time, Process: p}
			r.tasks = append(r.tasks, l)
			return l
		}
		r.peer = append(r.peer, row("Redis, `INCR`", peer))
		r.ours = append(r.ours, row("uidringd, `INCR`, on one processor", one))
		r.both = append(r.both, row("uidringd, `INCR`, on both processors", two))
	}
	return r, ends, nil
}

// counterConfig writes the config of a counter in a schema of its own. end drops the schema.
func counterConfig(binary, dsn string) (path string, end func() error, err error) {
	at, err := url.Parse(dsn)
	if err != nil || at.Host == "" {
		return "", nil, fmt.Errorf("UIDRING_TEST_POSTGRES is no URL, want one such as postgres://postgres@127.0.0.1:5432/test: %w", err)
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return "", nil, err
	}
	schema := fmt.Sprintf("uidring_bench_%d", os.Getpid())
	end = func() error {
		_, err := conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
		return errors.Join(err, conn.Close(ctx))
	}
	if _, err := conn.Exec(ctx, "CREATE SCHEMA "+schema); err != nil {
		return "", nil, errors.Join(err, end())
	}
	query := at.Query()
	query.Set("search_path", schema)
	at.RawQuery = query.Encode()
	path = binary + "-redis.yaml"
	text := fmt.Sprintf("stores: [{name: postgres, url: %q}]\ngenerators: [{name: orders, kind: segment, store: postgres, create: true}]\nshutdown: {delay: 0s}\n", at)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", nil, errors.Join(err, end())
	}
	return path, end, nil
}

// startCounter starts a uidringd that serves the Redis protocol.
func startCounter(config, processors string, command ...string) (*process, error) {
	cmd := exec.Command(command[0], append(command[1:], "--config", config, "--listen", "127.0.0.1:0", "--redis", "127.0.0.1:0")...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+processors)
	return start(cmd)
}

// piped is a load of redis-benchmark.
type piped struct {
	Name    string
	Depth   int
	Time    time.Duration // for a sample
	Process *process

	Calls measure.Series // a second
	CPU   measure.Series // of the server, µs a call
}

// Sample implements measure.Task. A first run of a few calls warms up, and tells how many
// calls the sample takes.
func (l *piped) Sample(ctx context.Context) (keep func(), err error) {
	rate, err := l.run(ctx, 5000*l.Depth)
	if err != nil {
		return nil, err
	}
	n := int(rate * l.Time.Seconds())
	used := l.Process.cpu()
	if rate, err = l.run(ctx, n); err != nil {
		return nil, err
	}
	used = l.Process.cpu() - used
	return func() {
		l.Calls = append(l.Calls, rate)
		l.CPU = append(l.CPU, float64(used.Nanoseconds())/1e3/float64(n))
	}, nil
}

// arguments are those of redis-benchmark, for the page too.
func (l *piped) arguments(port string, n int) []string {
	return []string{"-p", port, "-c", strconv.Itoa(connections), "-P", strconv.Itoa(l.Depth), "-n", strconv.Itoa(n), "--csv", "INCR", "orders"}
}

// run has redis-benchmark make n calls, and returns how many it made a second.
func (l *piped) run(ctx context.Context, n int) (rate float64, err error) {
	// redis-benchmark connects for ever to a server that is unavailable.
	ctx, cancel := context.WithTimeout(ctx, 20*l.Time+time.Minute)
	defer cancel()
	_, port, err := net.SplitHostPort(l.Process.redis)
	if err != nil {
		return 0, err
	}
	command := append(append(slices.Clone(clientCore), "redis-benchmark"), l.arguments(port, n)...)
	var failed bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stderr = &failed
	text, err := cmd.Output()
	if err == nil {
		rate, err = readRate(text)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %s", cmd, err, &failed)
	}
	return rate, nil
}

// readRate reads the calls a second from what redis-benchmark --csv prints.
func readRate(text []byte) (float64, error) {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	fields := strings.Split(lines[len(lines)-1], `","`)
	if len(fields) < 2 || fields[0] != `"INCR orders` {
		return 0, fmt.Errorf("redis-benchmark prints %q", text)
	}
	return strconv.ParseFloat(fields[1], 64)
}

// over is how many calls l makes for each of floor's, in each round.
func (l *piped) over(floor *piped) measure.Series {
	var s measure.Series
	for i, calls := range l.Calls {
		s = append(s, calls/floor.Calls[i])
	}
	return s
}

// bars are what the project promises beside Redis.
func (r *redisRows) bars() (all []bar) {
	for i, l := range r.ours {
		ratio := l.over(r.peer[i])
		all = append(all, bar{What: fmt.Sprintf("`INCR` by redis-benchmark, `-P %d`", l.Depth), Want: "≥ 0.85 × Redis",
			Measured: fmt.Sprintf("%.3f ×", ratio.Median()), Pass: ratio.Median() >= 0.85})
	}
	return all
}

func (r *redisRows) table() string {
	rows := [][]string{{"server and call", ">commands sent at once", ">calls/s", ">× Redis", ">µs of the server's processor a call"}}
	for i := range depths {
		for _, l := range []*piped{r.peer[i], r.ours[i], r.both[i]} {
			rows = append(rows, []string{l.Name, number(l.Depth), bold(l.Calls), l.over(r.peer[i]).String(), bold(l.CPU)})
		}
	}
	return table(rows...)
}

// pong waits until a Redis answers.
func pong(address string) error {
	var err error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		var conn net.Conn
		if conn, err = net.Dial("tcp", address); err != nil {
			continue
		}
		var line string
		if _, err = io.WriteString(conn, "PING\r\n"); err == nil {
			line, err = bufio.NewReader(conn).ReadString('\n')
		}
		_ = conn.Close() // nothing is under way
		if line == "+PONG\r\n" {
			return nil
		}
	}
	return fmt.Errorf("redis-server does not answer: %w", err)
}
