package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/uidring/uidring/cmd/internal/bench"
)

// Processors of the comparison with Redis: a server has one, redis-benchmark the other.
var (
	serverCore = []string{"taskset", "-c", "0"}
	clientCore = []string{"taskset", "-c", "1"}
)

// depths are how many commands redis-benchmark sends before it reads an answer.
var depths = []int{1, 16}

// Names of what redis-benchmark loads: uidringd on one processor, and on both, one of which
// the client has too.
const (
	redisPeer = "Redis, `INCR`"
	redisOurs = "uidringd, `INCR`, on one processor"
	redisBoth = "uidringd, `INCR`, on both processors"
)

func callsAt(depth int) string { return fmt.Sprintf("%s, -P %d", bench.Calls, depth) }

func processorsAt(depth int) string { return fmt.Sprintf("%s, -P %d", processors, depth) }

// redisTasks starts a Redis and two uidringd whose counter is in the PostgreSQL at dsn.
func redisTasks(run *running, binary, dsn string, time time.Duration) (tasks []bench.Task, err error) {
	for _, tool := range []string{"taskset", "redis-benchmark", "redis-server"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, err
		}
	}
	config := binary + "-redis.yaml"
	text := fmt.Sprintf("stores: [{name: postgres, url: %q}]\ngenerators: [{name: orders, kind: segment, store: postgres, create: true}]\nshutdown: {delay: 0s}\n", dsn)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	peer := run.add(startRedis(serverCore...))
	one := run.add(startCounter(config, "1", append(serverCore, binary)...))
	two := run.add(startCounter(config, "2", binary))
	tasks = []bench.Task{renewal{one, two}}
	for _, depth := range depths {
		tasks = append(tasks,
			&piped{Name: redisPeer, Depth: depth, Time: time, Process: peer},
			&piped{Name: redisOurs, Depth: depth, Time: time, Process: one},
			&piped{Name: redisBoth, Depth: depth, Time: time, Process: two})
	}
	return tasks, nil
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
}

// Sample implements bench.Task. A first run of a few calls warms up, and tells how many
// calls the sample takes.
func (l *piped) Sample(ctx context.Context) ([]bench.Figure, error) {
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
	return []bench.Figure{
		bench.Of(l.Name, bench.Setting{}, callsAt(l.Depth), rate),
		bench.Of(l.Name, bench.Setting{}, processorsAt(l.Depth), float64(used.Nanoseconds())/1e3/float64(n)),
	}, nil
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
	command := append(slices.Clone(clientCore), "redis-benchmark", "-p", port, "-c", strconv.Itoa(connections),
		"-P", strconv.Itoa(l.Depth), "-n", strconv.Itoa(n), "--csv", "INCR", "orders")
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

// redisBars are what the project promises beside Redis.
func (p *page) redisBars() (bars []bench.Bar) {
	for _, depth := range depths {
		ratio := p.of(redisOurs, callsAt(depth)).Over(p.of(redisPeer, callsAt(depth)))
		bars = append(bars, bench.Bar{What: fmt.Sprintf("`INCR` by redis-benchmark, `-P %d`", depth), Want: "≥ 0.85 × Redis",
			Measured: fmt.Sprintf("%.3f ×", ratio), Pass: ratio >= 0.85})
	}
	return bars
}
