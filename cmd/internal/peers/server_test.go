package peers

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
	"time"

	"github.com/uidring/uidring/internal/test/need"
)

// emptyVariable makes the test binary a server whose handler does nothing.
const emptyVariable = "UIDRING_BENCH_EMPTY"

func TestMain(m *testing.M) {
	if os.Getenv(emptyVariable) != "" {
		fmt.Fprintln(os.Stderr, serveEmpty())
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(made)
	os.Exit(code)
}

func serveEmpty() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("serving at http://%s/\n", listener.Addr())
	return http.Serve(listener, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
}

// connections is how many a load tool keeps: enough for two cores.
const connections = "32"

// BenchmarkHTTP loads an empty handler and the server in turn, a second each, by wrk.
func BenchmarkHTTP(b *testing.B) {
	need.Program(b, "wrk")
	empty, server := started(b, func() (*process, error) {
		return start([]string{"env", emptyVariable + "=1", os.Args[0]})
	}), started(b, func() (*process, error) { return startUidringd(cachedConfig) })
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
		b.Run("call="+tt.name, func(b *testing.B) {
			load := func(address string, more ...string) (requests, p99 float64) {
				text := output(b, append([]string{"wrk", "-t", "1", "-c", connections, "-d", "1s", "--latency", "http://" + address + tt.path}, more...))
				p99 = figure(b, text, `\n\s+99%\s+(\S+)`, func(s string) (float64, error) {
					d, err := time.ParseDuration(s)
					return d.Seconds() * 1e3, err
				})
				if strings.Contains(text, "Non-2xx") || strings.Contains(text, "Socket errors") {
					b.Fatal(text)
				}
				return figure(b, text, `Requests/sec:\s+(\S+)`, number), p99
			}
			inTurn(b, func() float64 { requests, _ := load(empty.http); return requests }, func() float64 {
				requests, p99 := load(server.http, tt.more...)
				b.ReportMetric(p99, "p99-ms")
				return requests
			})
		})
	}
}

// BenchmarkRedis loads a Redis without persistence and the server in turn, by
// redis-benchmark. Each server has a processor, and the load tool has the other.
func BenchmarkRedis(b *testing.B) {
	for _, name := range []string{"redis-server", "redis-benchmark", "taskset"} {
		need.Program(b, name)
	}
	port := freePort(b)
	redis := exec.Command("taskset", "-c", "0", "redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
	need.Must(b, redis.Start())
	b.Cleanup(func() { _ = redis.Process.Kill(); _ = redis.Wait() })
	server := started(b, func() (*process, error) {
		return startUidringd(counterConfig, "taskset", "-c", "0", "env", "GOMAXPROCS=1")
	})
	_, own, err := net.SplitHostPort(server.redis)
	need.Must(b, err)
	for _, depth := range []int{1, 16} {
		b.Run(fmt.Sprintf("pipeline=%d", depth), func(b *testing.B) {
			load := func(port string) float64 {
				text := output(b, []string{"taskset", "-c", "1", "redis-benchmark", "-p", port, "-c", connections, "-P", strconv.Itoa(depth),
					"-n", strconv.Itoa(100_000 * depth), "--csv", "INCR", "orders"})
				return figure(b, text, `"INCR orders","([^"]+)"`, number)
			}
			inTurn(b, func() float64 { return load(port) }, func() float64 { return load(own) })
		})
	}
}

// inTurn reports the median rate of a server, and the median of its ratios to the base.
func inTurn(b *testing.B, base, own func() float64) {
	var rates, ratios []float64
	for b.Loop() {
		under := base()
		rate := own()
		rates, ratios = append(rates, rate), append(ratios, rate/under)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(rates), "req/s")
	b.ReportMetric(median(ratios), ratio)
}

func started(b *testing.B, start func() (*process, error)) *process {
	p, err := start()
	need.Must(b, err)
	b.Cleanup(p.stop)
	return p
}

func freePort(b *testing.B) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	need.Must(b, err)
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
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

// figure reads what a pattern finds in the text of a tool.
func figure(b *testing.B, text, pattern string, read func(string) (float64, error)) float64 {
	found := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if found == nil {
		b.Fatalf("no %s in %q", pattern, text)
	}
	value, err := read(found[1])
	need.Must(b, err)
	return value
}

func number(text string) (float64, error) { return strconv.ParseFloat(text, 64) }
