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
	const there = "uidringd has INCR, INCRBY, GET, MGET, UID.RUNS, UID.PARSE and UID.LIST, and stores nothing"
	c := serve(t, service.Config{}, resp.Config{}).dial(t)
	for _, test := range []struct{ command, answer string }{
		{"INCR orders", ":1\r\n"},
		{"incr orders", ":2\r\n"},
		{"INCRBY orders 10", ":12\r\n"},
		{"INCRBY orders 1", ":13\r\n"},
		{"GET orders", "$2\r\n14\r\n"},
		{"MGET orders orders", "*2\r\n$2\r\n15\r\n$2\r\n16\r\n"},
		{"UID.RUNS orders 50000", "*8\r\n$8\r\ninstance\r\n$8\r\norders-1\r\n$4\r\nkind\r\n$7\r\nsegment\r\n$6\r\nnumber\r\n:1\r\n$4\r\nruns\r\n*1\r\n*2\r\n$2\r\n17\r\n:50000\r\n"},
		{"UID.PARSE orders 7", "*4\r\n$2\r\nid\r\n$1\r\n7\r\n$4\r\nnote\r\n$34\r\nthe ids of a counter carry no time\r\n"},
		{"UID.PARSE ids 117093590311632896", "*12\r\n$2\r\nid\r\n$18\r\n117093590311632896\r\n$6\r\nlayout\r\n$33\r\n28/22/13,epoch=2026-01-01,unit=1s\r\n" +
			"$4\r\ntime\r\n$20\r\n2026-02-09T10:37:52Z\r\n$6\r\nworker\r\n:0\r\n$8\r\nsequence\r\n:0\r\n$11\r\nworkerParts\r\n*0\r\n"},
		{"UID.LIST", "*3\r\n*8\r\n$4\r\nname\r\n$3\r\nids\r\n$4\r\nkind\r\n$6\r\ncached\r\n$6\r\nlayout\r\n$8\r\n28/22/13\r\n$3\r\nids\r\n:10\r\n" +
			"*10\r\n$4\r\nname\r\n$3\r\nall\r\n$4\r\nkind\r\n$4\r\ntags\r\n$5\r\nmatch\r\n$7\r\norder-*\r\n$5\r\nfault\r\n$12\r\nit is closed\r\n$3\r\nids\r\n:20\r\n" +
			"*6\r\n$4\r\nname\r\n$6\r\norders\r\n$4\r\nkind\r\n$7\r\nsegment\r\n$3\r\nids\r\n:30\r\n"},
		{"PING", "+PONG\r\n"},
		{"PING text", "$4\r\ntext\r\n"},
		{"ECHO text", "$4\r\ntext\r\n"},
		{"SELECT 0", "+OK\r\n"},
		{"CLIENT GETNAME", "$-1\r\n"},
		{"CLIENT SETNAME me", "+OK\r\n"},
		{"CLIENT GETNAME", "$2\r\nme\r\n"},
		{"CLIENT SETINFO LIB-NAME go-redis", "+OK\r\n"},
		{"CLIENT NO-EVICT ON", "+OK\r\n"},
		{"CLIENT NO-TOUCH ON", "+OK\r\n"},
		{"CLIENT ID", ":1\r\n"},
		{"COMMAND COUNT", ":17\r\n"},
		{"COMMAND INFO incr none", "*2\r\n*10\r\n$4\r\nincr\r\n:2\r\n*1\r\n+fast\r\n:1\r\n:1\r\n:1\r\n*0\r\n*0\r\n*0\r\n*0\r\n$-1\r\n"},
		{"COMMAND DOCS mget none", "*2\r\n$4\r\nmget\r\n*6\r\n$7\r\nsummary\r\n$42\r\nReturns one id of each generator, as text.\r\n$5\r\nsince\r\n$5\r\n1.0.0\r\n$5\r\ngroup\r\n$6\r\nstring\r\n"},
		{"HELLO", "*14\r\n$6\r\nserver\r\n$8\r\nuidringd\r\n$7\r\nversion\r\n$5\r\n7.2.0\r\n$5\r\nproto\r\n:2\r\n$2\r\nid\r\n:1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n"},
		{"HELLO 3 SETNAME you", "%7\r\n$6\r\nserver\r\n$8\r\nuidringd\r\n$7\r\nversion\r\n$5\r\n7.2.0\r\n$5\r\nproto\r\n:3\r\n$2\r\nid\r\n:1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n"},
		{"UID.RUNS orders 1", "%4\r\n$8\r\ninstance\r\n$8\r\norders-1\r\n$4\r\nkind\r\n$7\r\nsegment\r\n$6\r\nnumber\r\n:2\r\n$4\r\nruns\r\n*1\r\n*2\r\n$5\r\n50017\r\n:1\r\n"},
		{"CLIENT GETNAME", "$3\r\nyou\r\n"},
		{"RESET", "+RESET\r\n"},
		{"HELLO 3", "%7\r\n$6\r\nserver\r\n$8\r\nuidringd\r\n$7\r\nversion\r\n$5\r\n7.2.0\r\n$5\r\nproto\r\n:3\r\n$2\r\nid\r\n:1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n"},
		{"CLIENT GETNAME", "_\r\n"},
		{"AUTH default x", "+OK\r\n"},

		{"AUTH x", "-ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?\r\n"},
		{"INCR", "-ERR wrong number of arguments for 'incr' command\r\n"},
		{"INCR a b", "-ERR wrong number of arguments for 'incr' command\r\n"},
		{"PING a b", "-ERR wrong number of arguments for 'ping' command\r\n"},
		{"INCR none", "-ERR there is no generator \"none\"\r\n"},
		{"MGET orders none", "-ERR there is no generator \"none\"\r\n"},
		{"INCR unavailable", "-TRYAGAIN generator \"unavailable\" cannot issue ids now\r\n"},
		{"INCR spent", "-ERR generator \"spent\" has no ids left\r\n"},
		{"INCRBY orders 0", "-ERR n is 0, want 1 to 10000 for \"orders\"\r\n"},
		{"INCRBY orders -1", "-ERR n is -1, want 1 to 10000 for \"orders\"\r\n"},
		{"INCRBY orders 10001", "-ERR n is 10001, want 1 to 10000 for \"orders\"\r\n"},
		{"INCRBY orders 99999999999999999999", "-ERR value is not an integer or out of range\r\n"},
		{"UID.RUNS orders x", "-ERR value is not an integer or out of range\r\n"},
		{"INCRBY ids 9000", "-ERR generator \"ids\" had no 9000 consecutive ids, but 8192 at most: want a smaller n, or UID.RUNS\r\n"},
		{"UID.PARSE ids x", "-ERR the id is \"x\", want a whole number from 1 to 9223372036854775807\r\n"},
		{"SELECT 1", "-ERR DB index is out of range: there is only 0\r\n"},
		{"SELECT x", "-ERR value is not an integer or out of range\r\n"},
		{"HELLO 4", "-NOPROTO unsupported protocol version\r\n"},
		{"HELLO x", "-ERR Protocol version is not an integer or out of range\r\n"},
		{"HELLO 3 AUTH x", "-ERR Syntax error in HELLO option 'AUTH'\r\n"},
		{"CLIENT LIST", "-ERR unknown subcommand 'LIST': CLIENT has ID, GETNAME, INFO, SETNAME, SETINFO, NO-EVICT and NO-TOUCH\r\n"},
		{"CLIENT SETNAME", "-ERR wrong number of arguments for 'client|setname' command\r\n"},
		{"SET orders 1", "-ERR unknown command 'SET': " + there + "\r\n"},
		{"MULTI", "-ERR unknown command 'MULTI': " + there + "; a pipeline without MULTI does the same\r\n"},
		{"CLUSTER SLOTS", "-ERR unknown command 'CLUSTER': " + there + "\r\n"},
		{"SENTINEL masters", "-ERR unknown command 'SENTINEL': " + there + "\r\n"},
		{"EVAL x 0", "-ERR unknown command 'EVAL': " + there + "\r\n"},
		{"QUIT", "+OK\r\n"},
	} {
		c.send(array(strings.Fields(test.command)...))
		t.Run(test.command, func(t *testing.T) { c.t = t; c.expect(test.answer) })
	}
	c.t = t
	c.ends()
}
