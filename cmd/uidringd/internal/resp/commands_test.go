package resp_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/uidringd/internal/resp"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

var itoa = strconv.Itoa

// TestCommands has commands and their answers in both versions of the protocol, on a counter
// whose ids are known.
func TestCommands(t *testing.T) {
	const there = "uidringd has INCR, INCRBY, GET and UID.RUNS, and stores nothing"
	const multi = "-ERR MULTI has no effect: uidringd has no transactions, so send the commands without MULTI\r\n"
	const name = "-ERR Client names cannot contain spaces, newlines or special characters.\r\n"
	c := serve(t, service.Config{}, resp.Config{}).dial(t)
	for _, test := range []struct{ command, answer string }{
		{"INCR orders", ":1\r\n"},
		{"incr orders", ":2\r\n"},
		{"INCRBY orders 10", ":12\r\n"},
		{"INCRBY orders 1", ":13\r\n"},
		{"GET orders", "$2\r\n14\r\n"},
		{"UID.RUNS orders 50000", "*8\r\n$8\r\ninstance\r\n$8\r\norders-1\r\n$4\r\nkind\r\n$7\r\nsegment\r\n$6\r\nnumber\r\n:1\r\n$4\r\nruns\r\n*1\r\n*2\r\n$2\r\n15\r\n:50000\r\n"},
		{"PING", "+PONG\r\n"},
		{"PING text", "$4\r\ntext\r\n"},
		{"ECHO text", "$4\r\ntext\r\n"},
		{"CLIENT SETNAME me", "+OK\r\n"},
		{"CLIENT SETINFO LIB-NAME go-redis", "+OK\r\n"},
		{"HELLO", "*14\r\n$6\r\nserver\r\n$8\r\nuidringd\r\n$7\r\nversion\r\n$5\r\n7.2.0\r\n$5\r\nproto\r\n:2\r\n$2\r\nid\r\n:1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n"},
		{"HELLO 3 SETNAME you", "%7\r\n$6\r\nserver\r\n$8\r\nuidringd\r\n$7\r\nversion\r\n$5\r\n7.2.0\r\n$5\r\nproto\r\n:3\r\n$2\r\nid\r\n:1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n"},
		{"UID.RUNS orders 1", "%4\r\n$8\r\ninstance\r\n$8\r\norders-1\r\n$4\r\nkind\r\n$7\r\nsegment\r\n$6\r\nnumber\r\n:2\r\n$4\r\nruns\r\n*1\r\n*2\r\n$5\r\n50015\r\n:1\r\n"},
		{"AUTH default x", "+OK\r\n"},

		{"AUTH x", "-ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?\r\n"},
		{"INCR", "-ERR wrong number of arguments for 'incr' command\r\n"},
		{"INCR a b", "-ERR wrong number of arguments for 'incr' command\r\n"},
		{"PING a b", "-ERR wrong number of arguments for 'ping' command\r\n"},
		{"INCR none", "-ERR there is no generator \"none\"\r\n"},
		{"INCR unavailable", "-TRYAGAIN generator \"unavailable\" cannot issue ids now\r\n"},
		{"INCR spent", "-ERR generator \"spent\" has no ids left\r\n"},
		{"INCRBY orders 0", "-ERR n is 0, want 1 to 10000 for \"orders\"\r\n"},
		{"INCRBY orders -1", "-ERR n is -1, want 1 to 10000 for \"orders\"\r\n"},
		{"INCRBY orders 10001", "-ERR n is 10001, want 1 to 10000 for \"orders\"\r\n"},
		{"INCRBY orders 99999999999999999999", "-ERR value is not an integer or out of range\r\n"},
		{"UID.RUNS orders x", "-ERR value is not an integer or out of range\r\n"},
		{"INCRBY ids 9000", "-ERR generator \"ids\" had no 9000 consecutive ids, but 8192 at most: want a smaller n, or UID.RUNS\r\n"},
		{"HELLO 4", "-NOPROTO unsupported protocol version\r\n"},
		{"HELLO x", "-ERR Protocol version is not an integer or out of range\r\n"},
		{"HELLO 3 AUTH x", "-ERR Syntax error in HELLO option 'AUTH'\r\n"},
		{"CLIENT LIST", "-ERR unknown subcommand 'LIST' with 0 arguments: CLIENT has SETNAME name and SETINFO attribute value\r\n"},
		{"MGET orders", "-ERR unknown command 'MGET': " + there + "\r\n"},
		{"SET orders 1", "-ERR unknown command 'SET': " + there + "\r\n"},
		{"CLUSTER SLOTS", "-ERR unknown command 'CLUSTER': " + there + "\r\n"},
		{"SENTINEL masters", "-ERR unknown command 'SENTINEL': " + there + "\r\n"},
		{"EVAL x 0", "-ERR unknown command 'EVAL': " + there + "\r\n"},
		{"SELECT 0", "+OK\r\n"},
		{"SELECT 1", "-ERR DB index is out of range\r\n"},
		{"CLIENT SETNAME you\x7f", name},
		{"HELLO 3 SETNAME you\n", name},
		{"MULTI", "+OK\r\n"},
		{"INCR orders", multi},
		{"SET orders 1", multi},
		{"MULTI", multi},
		{"EXEC", strings.Replace(multi, "ERR", "EXECABORT", 1)},
		{"MULTI", "+OK\r\n"},
		{"DISCARD", "+OK\r\n"},
		{"INCR orders", ":50016\r\n"},
		{"QUIT", "+OK\r\n"},
	} {
		c.send(array(strings.Split(test.command, " ")...))
		t.Run(test.command, func(t *testing.T) { c.t = t; c.expect(test.answer) })
	}
	c.t = t
	c.ends()
}
