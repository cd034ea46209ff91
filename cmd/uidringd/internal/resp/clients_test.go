package resp_test

import (
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/uidringd/internal/resp"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// idle is for connections that end when they are idle for a moment, so that clients have to
// connect again.
const idle = 300 * time.Millisecond

// serveClients serves a counter to clients that send a token, and returns its address.
func serveClients(t *testing.T, idle time.Duration) string {
	t.Helper()
	s := serve(t, service.Config{Tokens: []service.Token{token("a-token")}}, resp.Config{Idle: idle})
	return s.listener.Addr().String()
}

// cutting is a listener whose connections are cut at random.
type cutting struct{ net.Listener }

func (c cutting) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		time.AfterFunc(rand.N(10*time.Millisecond), func() { conn.Close() })
	}
	return conn, err
}

// TestClients has clients of other languages draw: by each command, after the server has
// ended their connections, while connections are cut, and without a right.
func TestClients(t *testing.T) {
	dir, all := scripts(t)
	for _, client := range all {
		t.Run(client.name, func(t *testing.T) {
			client.needs(t, dir)
			t.Parallel()
			server := serveClients(t, idle)
			process := client.start(t, dir, "a-token", server, server, server) // a slow client finds its new connection ended, too
			var ids []uid.ID
			draw := func(command string, n int) {
				t.Helper()
				drawn, err := process.draw(command, "orders", n)
				if err != nil {
					t.Errorf("%s: %v", command, err)
				}
				ids = append(ids, drawn...)
			}
			for range 2 {
				draw("pipeline", 50)
				draw("incr", 20)
				draw("incrby", 10)
				draw("get", 25)
				time.Sleep(time.Second) // the server ends the connections meanwhile
			}
			slices.Sort(ids)
			if distinct := slices.Compact(slices.Clone(ids)); len(distinct) != 210 || len(ids) != 210 || ids[0] < 1 || ids[209] > 420 {
				t.Errorf("%d ids, want 210 that do not repeat: %v", len(distinct), ids)
			}
			server = serveClients(t, time.Hour)
			process = client.start(t, dir, "a-token", server)
			for _, command := range commands {
				if ids, err := process.draw(command, "nosuch", 2); len(ids) > 0 || err == nil || !strings.Contains(err.Error(), `there is no generator "nosuch"`) {
					t.Errorf("%s of no generator: %v, %v", command, ids, err)
				}
			}
			if ids, err := client.start(t, dir, "another", server).draw("incr", "orders", 1); len(ids) > 0 || err == nil {
				t.Errorf("with a wrong token: %v, %v", ids, err)
			}
			cut(t, client, dir)
		})
	}
}

var commands = []string{"incr", "get", "pipeline", "incrby"}

// cut has a client draw while its connections are cut. No id repeats.
func cut(t *testing.T, client script, dir string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	need.Must(t, err)
	serveOn(t, cutting{listener}, service.Config{}, resp.Config{})
	process, seen, failed := client.start(t, dir, "", listener.Addr().String()), map[uid.ID]bool{}, 0
	for i := range 100 {
		ids, err := process.draw(commands[i%len(commands)], "orders", 1+i)
		if err != nil {
			failed++
		}
		for _, id := range ids {
			if seen[id] {
				t.Errorf("id %d repeats", id)
			}
			seen[id] = true
		}
	}
	t.Logf("%d ids; %d of 100 draws failed", len(seen), failed)
	if len(seen) < 100 {
		t.Errorf("%d ids, want 100 or more", len(seen))
	}
}

// TestRedisPrograms has the programs of Redis itself draw.
func TestRedisPrograms(t *testing.T) {
	for _, program := range []string{"redis-cli", "redis-benchmark"} {
		need.Program(t, program)
	}
	_, port, _ := strings.Cut(serveClients(t, time.Hour), ":")
	run := func(stdin, name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, append([]string{"-p", port}, args...)...)
		cmd.Env, cmd.Stdin = append(os.Environ(), "REDISCLI_AUTH=a-token"), strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v, %s", name, args, err, out)
		}
		return string(out)
	}
	if got := run("INCR orders\nGET orders\nINCRBY orders 10\n", "redis-cli", "-3"); got != "1\n2\n12\n" {
		t.Errorf("%q", got)
	}
	if got := run(strings.Repeat(array("INCR", "orders"), 100), "redis-cli", "--pipe"); !strings.Contains(got, "errors: 0, replies: 100") {
		t.Errorf("%q", got)
	}
	for _, pipelined := range []string{"1", "16"} {
		got := run("", "redis-benchmark", "-a", "a-token", "-t", "incr", "-c", "32", "-n", "10000", "-P", pipelined, "-q")
		if !regexp.MustCompile(`INCR: \d+`).MatchString(got) || strings.Contains(got, "rror from server") {
			t.Errorf("%q", got)
		}
	}
}
