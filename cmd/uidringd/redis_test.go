//go:build linux

package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/internal/test/need"
)

// Without a config, the line that the server prints and those of its page work. If the port is
// taken, the server says so and goes on; with an address that somebody asked for it does not.
func TestRedisFirstStart(t *testing.T) {
	need.Program(t, "redis-cli")
	r := start(t, t.TempDir())
	if ids := shell(t, r.redisCommand); len(ids) != 1 {
		t.Errorf("%s: %v", r.redisCommand, ids)
	}
	_, page := get(t, http.DefaultClient, r.url+"/")
	lines := regexp.MustCompile(`<pre>(redis-cli .*)</pre>`).FindAllStringSubmatch(page, -1)
	for _, line := range lines {
		if ids := shell(t, line[1]); len(ids) != 1 {
			t.Errorf("%s: %v", line[1], ids)
		}
	}
	if len(lines) != 2 {
		t.Errorf("%d lines of redis-cli, want 2: %s", len(lines), page)
	}
	out, err := process(t, t.TempDir(), "--listen", "127.0.0.1:0", "--redis", r.redisAddress).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "address already in use") {
		t.Errorf("%v, %s", err, out)
	}
	if taken, err := net.Listen("tcp", "127.0.0.1:6380"); err == nil { // else another process has it, which does as well
		defer taken.Close()
	}
	other := &running{cmd: process(t, t.TempDir(), "--listen", "127.0.0.1:0")}
	other.begin(t)
	if status, _ := get(t, http.DefaultClient, other.url+"/v1/orders"); status != http.StatusOK || !strings.Contains(other.log.String(), "the Redis protocol is not served: another process has its port") {
		t.Errorf("%d, %s", status, &other.log)
	}
	other.end(t, os.Interrupt)
}

// Both protocols listen on unix sockets, whose files have the mode of the config. The file that a
// crash left is replaced. A socket in use, and a file that is none, are errors.
func TestSockets(t *testing.T) {
	dir := t.TempDir()
	config := write(t, dir, "c.yaml", `
listen: unix:http.sock
redis: {listen: unix:redis.sock}
socket_mode: 0620
stores: [{name: file, url: ids.db}]
generators: [{name: orders, kind: segment, store: file, create: true}]
`)
	var last int64
	for round := range 2 {
		r := &running{cmd: process(t, dir, "--config", config)}
		r.begin(t)
		r.beginRedis(t)
		if r.url != "unix:http.sock" || r.redisCommand != "redis-cli -s redis.sock INCR orders" {
			t.Errorf("the server says %s and %s", r.url, r.redisCommand)
		}
		for _, name := range []string{"http.sock", "redis.sock"} {
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil || info.Mode() != os.ModeSocket|0o620 {
				t.Errorf("%s: %v, %v", name, info.Mode(), err)
			}
		}
		client := dialRedis(t, redis.Options{Network: "unix", Addr: filepath.Join(dir, "redis.sock")})
		id, err := client.Incr(t.Context(), "orders").Result()
		if err != nil || id <= last {
			t.Errorf("order %d after %d, %v", id, last, err)
		}
		last = id
		web := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			return net.Dial("unix", filepath.Join(dir, "http.sock"))
		}}}
		if status, text := get(t, web, "http://localhost/v1/orders"); status != http.StatusOK || text != fmt.Sprintln(last+1) {
			t.Errorf("%d, %q, want %d", status, text, last+1)
		}
		web.CloseIdleConnections()
		out, err := process(t, dir, "--config", config).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "listen unix http.sock: a process listens at the socket: want another path, or stop that process") {
			t.Errorf("beside another server: %v, %s", err, out)
		}
		if round == 0 { // leaves the files
			_ = r.cmd.Process.Kill()
			_ = r.cmd.Wait()
			if _, err := os.Stat(filepath.Join(dir, "redis.sock")); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if code := r.end(t, syscall.SIGTERM); code != 0 {
			t.Errorf("exit code %d: %s", code, &r.log)
		}
		if _, err := os.Stat(filepath.Join(dir, "redis.sock")); !os.IsNotExist(err) {
			t.Errorf("the socket is there after the end: %v", err)
		}
	}
	write(t, dir, "http.sock", "precious")
	out, err := process(t, dir, "--config", config).CombinedOutput()
	if text, _ := os.ReadFile(filepath.Join(dir, "http.sock")); err == nil || !strings.Contains(string(out), "the file is no socket: want another path, or remove the file") || string(text) != "precious" {
		t.Errorf("%v, %s, %q", err, out, text)
	}
}

// Tokens, client certificates, limits and metrics are those of HTTP. No secret is in the log.
func TestRedisTLS(t *testing.T) {
	dir := t.TempDir()
	pair := certify(t, dir, 1)
	r := start(t, dir, "--config", write(t, dir, "c.yaml", `
tls: {cert: cert.pem, key: key.pem, client_ca: cert.pem}
generators:
  - {name: ids, kind: cached, worker: "static:1"}
  - {name: other, kind: slots, worker: "static:2"}
tokens: [{name: app, sha256: `+hash("secret-2")+`, generators: [ids]}]
log: {requests_per_s: 1000}
`))
	with := func(password string, own ...tls.Certificate) *redis.Client {
		trusted := trusts(pair)
		trusted.Certificates = own
		return dialRedis(t, redis.Options{Addr: r.redisAddress, Password: password, TLSConfig: trusted})
	}
	for _, test := range []struct {
		client    *redis.Client
		generator string
		want      string
	}{
		{with("secret-2"), "ids", ""},
		{with("secret-2"), "other", "NOPERM "},
		{with("secret-2", pair), "other", "NOPERM "},
		{with("", pair), "other", ""},
		{with(""), "ids", "NOAUTH "},
		{with("secret-3"), "ids", "WRONGPASS "},
		{dialRedis(t, redis.Options{Addr: r.redisAddress, MaxRetries: -1}), "ids", "EOF"},
	} {
		if err := test.client.Incr(t.Context(), test.generator).Err(); fmt.Sprint(err) != "<nil>" && test.want == "" || test.want != "" && !strings.Contains(fmt.Sprint(err), test.want) {
			t.Errorf("%s: %v, want %q", test.generator, err, test.want)
		}
	}
	config := trusts(pair)
	config.Certificates = []tls.Certificate{pair}
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
	defer web.CloseIdleConnections()
	_, metrics := get(t, web, r.url+"/metrics")
	for _, want := range []string{
		`uidringd_request_duration_seconds_count{code="200",route="redis INCR"} 2`, `uidringd_request_duration_seconds_count{code="403",route="redis INCR"} 2`,
		`uidringd_caller_requests_total{caller="app",code="403"} 2`, `uidringd_caller_requests_total{caller="(certificate)",code="200"}`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %s: %s", want, metrics)
		}
	}
	if text := r.log.String(); !strings.Contains(text, `route="redis INCR" proto=RESP3 status=403`) || !strings.Contains(text, "caller=app") || strings.Contains(text, "secret-") {
		t.Errorf("%s", text)
	}
}

// Clients of the other protocol get an answer that helps.
func TestWrongPort(t *testing.T) {
	r := start(t, t.TempDir())
	status, text := get(t, http.DefaultClient, "http://"+r.redisAddress+"/v1/ids")
	if status != http.StatusBadRequest || text != "This port speaks the Redis protocol. HTTP, gRPC and Connect are at "+r.url+"/\n" {
		t.Errorf("%d, %q", status, text)
	}
	client := dialRedis(t, redis.Options{Addr: r.address(), MaxRetries: -1})
	if err := client.Incr(t.Context(), "ids").Err(); err == nil || err.Error() != "ERR this address is for HTTP, gRPC and Connect; the Redis protocol is served at "+r.redisAddress {
		t.Errorf("%v", err)
	}

	// A command that is none ends the connection: what follows is no request of HTTP.
	conn := reach(t, r.address())
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	in := bufio.NewReader(conn)
	_, _ = io.WriteString(conn, "*x\r\n")
	if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, "-ERR this address is for HTTP") {
		t.Errorf("%q, %v", line, err)
	}
	_, _ = io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") // fails if it has ended
	if rest, _ := io.ReadAll(in); strings.Contains(string(rest), "HTTP/1.1") {
		t.Errorf("after the error the server says %q", rest)
	}
}
