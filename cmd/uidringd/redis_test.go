//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

var servingRedis = regexp.MustCompile(`^uidringd: serving the Redis protocol at (\S+): (.*)\n$`)

// startRedis starts a server at two free ports. It returns the address of the Redis protocol
// and the command that the server prints.
func startRedis(t *testing.T, dir string, args ...string) (r *running, address, command string) {
	t.Helper()
	r = start(t, dir, append([]string{"--redis", "127.0.0.1:0"}, args...)...)
	address, command = r.redis(t)
	return r, address, command
}

func (r *running) redis(t *testing.T) (address, command string) {
	t.Helper()
	line, err := r.out.ReadString('\n')
	found := servingRedis.FindStringSubmatch(line)
	if found == nil {
		t.Fatalf("standard output is %q, %v", line, err)
	}
	return found[1], found[2]
}

// dialRedis returns a client that has a pool.
func dialRedis(t *testing.T, o redis.Options) *redis.Client {
	t.Helper()
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	client := redis.NewClient(&o)
	t.Cleanup(func() { client.Close() })
	return client
}

func needRedisCLI(t *testing.T) {
	if _, err := exec.LookPath("redis-cli"); err != nil {
		t.Skip(err)
	}
}

// Without a config, the line that the server prints and those of its page work. If the port is
// taken, the server says so and goes on; with an address that somebody asked for it does not.
func TestRedisFirstStart(t *testing.T) {
	needRedisCLI(t)
	dir := t.TempDir()
	r, address, command := startRedis(t, dir)
	if ids := shell(t, command); len(ids) != 1 {
		t.Errorf("%s: %v", command, ids)
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
	out, err := process(t, t.TempDir(), "--listen", "127.0.0.1:0", "--redis", address).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "address already in use") {
		t.Errorf("%v, %s", err, out)
	}
	if taken, err := net.Listen("tcp", "127.0.0.1:6380"); err == nil { // else another process has it, which does as well
		defer taken.Close()
	}
	other := start(t, t.TempDir())
	if status, _ := get(t, http.DefaultClient, other.url+"/v1/orders"); status != http.StatusOK || !strings.Contains(other.log.String(), "the Redis protocol is not served: another process has its port") {
		t.Errorf("%d, %s", status, &other.log)
	}
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
	for round := range 3 {
		r := &running{cmd: process(t, dir, "--config", config)}
		pipe, err := r.cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		r.cmd.Stderr = &r.log
		if err := r.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.cmd.Process.Kill(); _ = r.cmd.Wait() })
		text := make([]byte, len("uidringd: serving at unix:http.sock\nuidringd: serving the Redis protocol at unix:redis.sock: redis-cli -s redis.sock INCR orders\n"))
		if _, err := io.ReadFull(pipe, text); err != nil || !strings.HasPrefix(string(text), "uidringd: serving at unix:http.sock\n") || !strings.HasSuffix(string(text), "redis-cli -s redis.sock INCR orders\n") {
			t.Fatalf("%q, %v, %s", text, err, &r.log)
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
	r, address, _ := startRedis(t, dir, "--config", write(t, dir, "c.yaml", `
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
		return dialRedis(t, redis.Options{Addr: address, Password: password, TLSConfig: trusted})
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
		{dialRedis(t, redis.Options{Addr: address, MaxRetries: -1}), "ids", "EOF"},
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
	dir := t.TempDir()
	r, address, _ := startRedis(t, dir)
	status, text := get(t, http.DefaultClient, "http://"+address+"/v1/ids")
	if status != http.StatusBadRequest || text != "This port speaks the Redis protocol. HTTP, gRPC and Connect are at "+r.url+"/\n" {
		t.Errorf("%d, %q", status, text)
	}
	client := dialRedis(t, redis.Options{Addr: strings.TrimPrefix(r.url, "http://"), MaxRetries: -1})
	if err := client.Incr(t.Context(), "ids").Err(); err == nil || err.Error() != "ERR this address is for HTTP, gRPC and Connect; the Redis protocol is served at "+address {
		t.Errorf("%v", err)
	}

	// A command that is none ends the connection: what follows is no request of HTTP.
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
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

// While the server stops, PING and readyz say so, and pools of clients draw on until it has
// ended. No command that was sent on a connection fails without an answer.
func TestRedisTerminate(t *testing.T) {
	needSignals(t)
	dir := t.TempDir()
	r, address, _ := startRedis(t, dir, "--config", write(t, dir, "c.yaml", `
stores: [{name: file, url: ids.db}]
generators: [{name: orders, kind: segment, store: file, create: true}]
shutdown: {delay: 5s}
log: {requests_per_s: 0}
`))
	var clients sync.WaitGroup
	var drawn, failed atomic.Int64
	stop := make(chan struct{})
	client := dialRedis(t, redis.Options{Addr: address, PoolSize: 4})
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := client.Incr(t.Context(), "orders").Err(); err != nil {
					t.Error(err)
					failed.Add(1)
					return
				}
				drawn.Add(1)
			}
		})
	}
	for drawn.Load() < 100 && failed.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ping := dialRedis(t, redis.Options{Addr: address, MaxRetries: -1})
	for {
		if err := ping.Ping(t.Context()).Err(); err != nil && err.Error() == "LOADING the server is stopping" {
			break
		}
	}
	before := drawn.Load()
	for drawn.Load() < before+20 && failed.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	close(stop)
	clients.Wait()
	_ = r.cmd.Wait()
	if code := r.cmd.ProcessState.ExitCode(); code != 0 || !strings.HasSuffix(r.log.String(), "msg=stopped\n") {
		t.Errorf("exit code %d: %s", code, &r.log)
	}
	// No order was lost but those of answers that nobody got.
	again, address, _ := startRedis(t, dir, "--config", filepath.Join(dir, "c.yaml"))
	defer again.end(t, os.Interrupt)
	id, err := dialRedis(t, redis.Options{Addr: address}).Incr(t.Context(), "orders").Result()
	if err != nil || id <= drawn.Load() || id > drawn.Load()+10 {
		t.Errorf("order %d after %d answers, %v", id, drawn.Load(), err)
	}
}

// slowRedis are the ways to hold a connection, as in the map slow.
var slowRedis = map[string]func(net.Conn){
	"half a command":     func(c net.Conn) { io.WriteString(c, "*2\r\n$4\r\nINCR\r\n") },
	"dribbled command":   func(c net.Conn) { dribble(c, "*2\r\n$4\r\nINCR\r\n$1000\r\n", "x") },
	"answers never read": func(c net.Conn) { dribble(c, "", strings.Repeat("UID.RUNS ids 10000\r\nGET ids\r\n", 1000)) },
	"idle":               func(c net.Conn) { io.WriteString(c, "INCR ids\r\n") },
	"no command":         func(net.Conn) {},
}

// Connections of both protocols share the limits. Each kind of slow client loses the only place
// that there is.
func TestSlowRedisClients(t *testing.T) {
	for name, be := range slowRedis {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r, address, _ := startRedis(t, dir, "--config", write(t, dir, "c.yaml", slowConfig+"limits: {connections: 1, read: 200ms, write: 200ms, idle: 200ms, wait: 200ms}\n"))
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			done := make(chan struct{})
			go func() { defer close(done); be(conn) }()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for {
				if status, err := ask(ctx, r.url); err == nil && status == http.StatusOK {
					break
				} else if ctx.Err() != nil {
					t.Fatalf("%d, %v; want that the slow client is ended", status, err)
				}
			}
			conn.Close()
			<-done
		})
	}
}

// When all places are taken by commands that are under way, PING is answered, and all else is
// refused.
func TestRedisConnections(t *testing.T) {
	dir := t.TempDir()
	_, address, _ := startRedis(t, dir, "--config", write(t, dir, "c.yaml", slowConfig+"limits: {connections: 5, read: 1h}\n"))
	var held []net.Conn
	defer func() {
		for _, conn := range held {
			conn.Close()
		}
	}()
	for {
		for range 5 {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, conn)
			io.WriteString(conn, "*2\r\n")
		}
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(conn, "PING\r\nINCR ids\r\nQUIT\r\n")
		text, _ := io.ReadAll(conn)
		conn.Close()
		if string(text) == "+PONG\r\n"+strings.Repeat("-TRYAGAIN too many connections are busy\r\n", 2) {
			return
		}
		if !bytes.HasPrefix(text, []byte("+PONG\r\n:")) && len(text) > 0 {
			t.Fatalf("%q", text)
		}
	}
}
