//go:build linux

package resp_test

import (
	"io"
	"net"
	"testing"

	"github.com/uidring/uidring/cmd/uidringd/internal/resp"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
)

// TestAsRedis compares with a real Redis what both answer alike.
func TestAsRedis(t *testing.T) {
	redis, s := servertest.StartRedis(t), serve(t, service.Config{}, resp.Config{})
	for _, sent := range []string{
		array("SELECT", "0"), array("SELECT", "16"), array("SELECT", "-1"), array("SELECT", "x"), array("SELECT", "+0"), array("SELECT"),
		array("INCRBY", "orders", "+1"), array("INCRBY", "orders", "01"), array("INCRBY", "orders", "-0"), array("INCRBY", "orders", ""), array("INCRBY", "orders", " 1"),
		array("CLIENT", "SETNAME", "a b"), array("CLIENT", "SETNAME", "a\tb"), array("CLIENT", "SETNAME", "ä"), array("CLIENT", "SETNAME", ""), array("CLIENT", "SETNAME", "!~"),
		array("HELLO", "2", "SETNAME", "a b"), array("HELLO", "+2"), array("EXEC"), array("DISCARD"), array("MULTI") + array("DISCARD") + array("EXEC"),
		"INCR \"orders\"\r\n", "incr 'orders'\r\n", `ECHO "a b\x41\n\r\t\b\a\\\"\q\x4"` + "\r\n", `ECHO 'a b\n\'"'` + "\r\n", `ECHO a"b c"` + "\n", `ECHO ""` + "\n", "\"ECHO\"\ta\\\n",
		`ECHO "a` + "\n", `ECHO 'a` + "\n", `ECHO "a"b` + "\n", `ECHO 'a'b` + "\n", `ECHO "a\"` + "\n", `ECHO '"` + "\n", `ECHO "a\x4"` + "\n",
	} {
		ask := func(address string) string {
			c := dialAt(t, address)
			c.send(sent)
			need.Must(t, c.Conn.(*net.TCPConn).CloseWrite())
			answer, err := io.ReadAll(c)
			need.Must(t, err)
			return string(answer)
		}
		if got, want := ask(s.listener.Addr().String()), ask(redis.Address()); got != want {
			t.Errorf("%q gets %q, and from Redis %q", sent, got, want)
		}
	}
}
