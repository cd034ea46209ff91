//go:build linux

package segmentredis_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentredis"
)

func TestWarning(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{servertest.Durable, ""},
		{nil, "appendonly no"},
		{append([]string{"--rename-command", "CONFIG", "hidden"}, servertest.Durable...), "not shown"},
		{append([]string{"--rename-command", "INFO", "hidden"}, servertest.Durable...), "not shown"},
	} {
		var log logged.Text
		store := segmentredis.New(start(t, c.args...).client(t), segmentredis.Config{Logger: log.Logger()})
		_, _, _ = store.Reserve(t.Context(), "orders", 1)
		if c.want != "" {
			servertest.Eventually(t, "a warning", func() bool { return log.String() != "" })
		}
		_, _, _ = store.Reserve(t.Context(), "orders", 1)
		if got := log.String(); c.want == "" && got != "" || strings.Count(got, "\n") > 1 || !strings.Contains(got, c.want) {
			t.Errorf("%v: logged %s, want once %q", c.args, got, c.want)
		}
	}
}

// A server with replicas is warned of, since a failover undoes writes. A server that was
// unavailable is asked for its settings later.
func TestWarningLater(t *testing.T) {
	s := start(t, servertest.Durable...)
	start(t, "--replicaof", strings.Replace(s.Address(), ":", " ", 1))
	servertest.Eventually(t, "the replica", func() bool { return strings.Contains(s.Command(t, "INFO replication"), "connected_slaves:1") })
	var log logged.Text
	client, wire := s.wired(t)
	store := segmentredis.New(client, segmentredis.Config{Logger: log.Logger()})
	wire.Cut()
	if _, _, err := store.Reserve(t.Context(), "orders", 1); err == nil || errors.Is(err, segment.ErrUnknownTag) {
		t.Errorf("Reserve() = %v of a server that is unavailable", err)
	}
	must(t, wire.Mend())
	_, _, _ = store.Reserve(t.Context(), "orders", 1)
	servertest.Eventually(t, "a warning", func() bool { return log.Count("replicas, and a failover") == 1 })
}
