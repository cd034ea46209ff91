// Package torture has no code, only a test that disturbs generators in several
// processes on each real store. The test kills, stops, closes and restarts the
// processes, and moves their clocks by hours. It kills, locks and cuts off servers,
// drops packets, and restores counters from a copy. It collects all ids. In the end it
// compares every id with all others, and with what its process had reserved.
//
// # Who takes part
//
// The test is the parent. It starts MariaDB, PostgreSQL, Redis, three members of
// etcd, three of ZooKeeper, and a Kubernetes API server with its etcd. They have temporary
// directories and free ports of loopback. The test ends only what it started. Children are
// the test binary again, each with one generator: uid.Default, uid.Cached or uid.Slots under
// a leased number, or a segment.Generator where the store has counters. The parent moves their clocks.
// There is one child more than there are numbers, so that somebody always waits to
// take over. Children reach servers through proxies of their own.
//
// A child writes to its standard output which ids it drew. It also writes what it
// reserved: each write to a row before the store gets it, each grant and each range
// before ids of it are drawn. What a killed child had drawn and not written yet is
// lost, and not checked. Nobody else has seen those ids either. Batches are small, and
// children write them at once.
//
// # What is checked
//
//   - No id comes twice, over all processes and restarts.
//   - Every id is positive.
//   - The ids of each goroutine that draws ascend, but for Slots.
//   - Each id's tick lies within the time that the generator which drew it had
//     reserved under the id's number. The authority is the rows that there are in the
//     end: each has the token of its last write, and each write names the token that
//     it replaced. So a row leads to all writes that were ever committed to it.
//   - No write that a store reported done is missing there.
//   - No process was granted time that is not reserved for it there.
//   - A process that gives a number back ends its time above its last id: the next
//     holder begins there.
//   - No write to a row takes time back from it, but for a release, and none repeats
//     a token.
//   - Each id of a counter lies in a range that its process reserved, and was not given
//     back.
//   - A counter that is restored below what all processes hold is refused by each
//     (segment.ErrRewound), and by nobody else. After the recovery that package
//     segment asks for, no id repeats.
//
// A run fails too if an event did not happen that it is meant to survive: a takeover, a
// loss, an outage, ids of each kind of generator, and others.
//
// # Styles
//
// TestStyles has short runs of what the runs on every backend leave out:
//
//   - Ranges of a counter are returned late, after others have reserved, and returned
//     again if the store refused them.
//   - Processes with a Registry and with Leasers share one database.
//   - Numbers come from workerzk.Leaf, and two processes have each address.
//
// Each style has a run with a fault as well, in which the judge finds ids that repeat.
//
// # How to run it
//
// UIDRING_TORTURE=1 go test runs it, a minute or so. UIDRING_TORTURE_IDS is how
// many ids to collect over all backends. UIDRING_TORTURE_SEED repeats the actions of
// a run in the same order, though not at the same instants. UIDRING_TORTURE_FAULT
// (floor, window, release or return) makes children break the protocol, which has to
// fail the run. TestSeededFaults checks that.
//
// If a server's programs are missing, its part is skipped. The test runs on Linux only:
// elsewhere, a parent that dies would leave its children behind.
package torture
