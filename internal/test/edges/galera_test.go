//go:build linux

package edges

import (
	"os"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// A node of a Galera cluster that is cut off from the others refuses each statement, and keeps its connections. A pool leaves
// it for the node to which the address leads by then.
func TestGaleraNodeRefuses(t *testing.T) {
	need.CI(t)
	const provider = "/usr/lib/galera/libgalera_smm.so"
	if _, err := os.Stat(provider); err != nil {
		t.Skip(err)
	}
	start := func(args ...string) (*servertest.Server, *dbtest.Store) {
		server := servertest.MariaDB(t, t.TempDir()).With(args...).Start(t, dbtest.Answers)
		return server, &dbtest.Store{Kind: "mysql", URL: server.URL(server.Address)}
	}
	node, refuses := start("--wsrep-on=ON", "--wsrep-provider="+provider, "--wsrep-cluster-address=gcomm://", "--binlog-format=ROW",
		"--innodb-autoinc-lock-mode=2", "--wsrep-provider-options=gmcast.listen_addr=tcp://"+servertest.Addresses(t, 1)[0])
	other, accepts := start()
	need.Must(t, worker.NewStore(accepts.Open(t, accepts.URL), worker.StoreConfig{}).EnsureSchema(t.Context()))
	link := servertest.NewLink(t, func() string { return node.Address })
	leaser := worker.NewLeaser(refuses.Open(t, node.URL(link.Address())), lease.Config{Expiry: 400 * time.Millisecond, Logger: quiet})
	gen, err := uid.NewCached(t.Context(), leaser, uid.CachedConfig{Logger: quiet})
	need.Must(t, err)
	defer gen.Close()
	need.Must(t, refuses.Open(t, refuses.URL).Exec("SET GLOBAL wsrep_reject_queries = ALL").Error)
	link.Move(other.Address)
	servertest.Eventually(t, "a renewal fails", func() bool { return gen.Stats().Clock.LeaseError != nil })
	servertest.Eventually(t, "the other node gives a number", func() bool { return gen.Stats().Clock.LeaseError == nil })
}
