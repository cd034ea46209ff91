//go:build linux

// Package servers tests servers that share a database behind a plain TCP balancer, while clients of
// every kind draw ids. It has no code but tests.
//
// UIDRING_SERVERS_ROUNDS is how often a server is tormented, and UIDRING_SERVERS_SEED repeats the
// choices of a run.
package servers

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
)

func urls(servers []*servertest.Member) (list []string) {
	for _, s := range servers {
		list = append(list, s.Endpoint)
	}
	return list
}

// Servers are killed, paused and restarted at random. No id is issued twice.
func TestKilledServers(t *testing.T) {
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			rounds := need.Number(t, "UIDRING_SERVERS_ROUNDS", 9)
			seed := need.Number(t, "UIDRING_SERVERS_SEED", rand.Int64())
			t.Logf("UIDRING_SERVERS_SEED=%d, %d rounds", seed, rounds)
			random := rand.New(rand.NewPCG(uint64(seed), 0))
			servers := newServers(t, database(t, t.TempDir()), "0s", "    step: 500\n    max_step: 500") // calls wait for ranges often
			b := newBalancer(t, servers)
			crowd := newCrowd(t, b, urls(servers), timeout, false)
			for round := range rounds {
				s := servers[random.IntN(len(servers))]
				time.Sleep(time.Duration(random.Int64N(int64(200 * time.Millisecond))))
				switch round % 3 {
				case 0:
					s.Kill()
					s.Restart(t)
				case 1:
					s.Pause()
					time.Sleep(time.Duration(random.Int64N(int64(3 * time.Second))))
					s.Continue()
				case 2:
					s.Stop()
					s.Restart(t)
				}
			}
			crowd.end(t)
		})
	}
}

// Each server is restarted in order, after the one before is ready again. No call
// fails.
func TestRollingRestart(t *testing.T) {
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			servers := newServers(t, database(t, t.TempDir()), "3s", "    step: 500\nlimits: {wait: 20s}")
			b := newBalancer(t, servers)
			crowd := newCrowd(t, b, urls(servers), patience, true)
			for _, s := range servers {
				s.Stop()
				s.Restart(t)
			}
			crowd.end(t)
		})
	}
}
