package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
)

// emptyVariable makes the test binary a server whose handler does nothing.
const emptyVariable = "UIDRING_BENCH_EMPTY"

func TestMain(m *testing.M) {
	if os.Getenv(emptyVariable) != "" {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err == nil {
			fmt.Printf("serving at http://%s/\n", listener.Addr())
			err = http.Serve(listener, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	for _, p := range running {
		p.stop()
	}
	os.RemoveAll(made)
	os.Exit(code)
}

// connections is how many a load tool keeps: enough for two cores.
const connections = "32"

// BenchmarkHTTP loads an empty handler and the server, a second each, by wrk.
func BenchmarkHTTP(b *testing.B) {
	need.Program(b, "wrk")
	empty, err := start([]string{"env", emptyVariable + "=1", os.Args[0]})
	need.Must(b, err)
	server, err := startUidringd(cachedConfig)
	need.Must(b, err)
	script := filepath.Join(b.TempDir(), "post.lua")
	need.Must(b, os.WriteFile(script, []byte(`wrk.method = "POST"`), 0o600))
	for _, tt := range []struct {
		name, path string
		more       []string
	}{
		{"GET_id", "/v1/ids", nil},
		{"GET_1000_ids", "/v1/ids?n=1000", nil},
		{"POST_1000_in_runs", "/v1/ids/runs?n=1000", []string{"-s", script}},
	} {
		for name, p := range map[string]*process{"empty": empty, "uidringd": server} {
			b.Run("call="+tt.name+"/impl="+name, func(b *testing.B) {
				for b.Loop() {
					text := output(b, append([]string{"wrk", "-t", "1", "-c", connections, "-d", "1s", "http://" + p.http + tt.path}, tt.more...))
					if strings.Contains(text, "Non-2xx") || strings.Contains(text, "Socket errors") {
						b.Fatal(text)
					}
					b.ReportMetric(rate(b, text, `Requests/sec:\s+(\S+)`), "req/s")
				}
			})
		}
	}
}

// BenchmarkRedis loads a Redis without persistence and the server, by redis-benchmark. Each
// server has the first processor, and the load tool the second.
func BenchmarkRedis(b *testing.B) {
	for _, name := range []string{"redis-server", "redis-benchmark", "taskset"} {
		need.Program(b, name)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	need.Must(b, err)
	_, port, _ := net.SplitHostPort(free.Addr().String())
	need.Must(b, free.Close())
	redis := &process{redis: "127.0.0.1:" + port, cmd: exec.Command("taskset", "-c", "0", "redis-server", "--port", port,
		"--bind", "127.0.0.1", "--save", "", "--appendonly", "no")}
	need.Must(b, redis.cmd.Start())
	b.Cleanup(redis.stop)
	server, err := startUidringd(counterConfig, "taskset", "-c", "0", "env", "GOMAXPROCS=1")
	need.Must(b, err)
	for _, depth := range []int{1, 16} {
		for name, p := range map[string]*process{"redis": redis, "uidringd": server} {
			b.Run(fmt.Sprintf("pipeline=%d/impl=%s", depth, name), func(b *testing.B) {
				_, port, err := net.SplitHostPort(p.redis)
				need.Must(b, err)
				for b.Loop() {
					text := output(b, []string{"taskset", "-c", "1", "redis-benchmark", "-p", port, "-c", connections, "-P", strconv.Itoa(depth),
						"-n", strconv.Itoa(100_000 * depth), "--csv", "INCR", "orders"})
					b.ReportMetric(rate(b, text, `"INCR orders","([^"]+)"`), "req/s")
				}
			})
		}
	}
}

func output(b *testing.B, command []string) string {
	cmd := exec.Command(command[0], command[1:]...)
	var text strings.Builder
	cmd.Stdout, cmd.Stderr = &text, io.Discard
	if err := cmd.Run(); err != nil {
		b.Fatalf("%s: %v: %s", cmd, err, &text)
	}
	return text.String()
}

// rate reads what a pattern finds in the text of a tool.
func rate(b *testing.B, text, pattern string) float64 {
	found := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if found == nil {
		b.Fatalf("no %s in %q", pattern, text)
	}
	value, err := strconv.ParseFloat(found[1], 64)
	need.Must(b, err)
	return value
}
