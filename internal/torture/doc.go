// Package torture has no code, only a test that torments worker.Leaser and the
// generators on its numbers: several processes on one real database, which are
// killed, stopped, closed and started anew, whose clocks are moved by hours and
// whose database is killed, locked, cut off and made to swallow packets. All ids
// are collected and all that the database committed is kept, and in the end
// every id is held against both.
//
// # Who takes part
//
// The test is the parent. It starts MariaDB and PostgreSQL itself, in a temporary
// directory and on free ports of loopback, and ends only what it started. Children
// are the test binary again, each with one generator (a uid.Cached, or a
// uid.Default) and a clock that the parent moves. There is one child more than
// there are numbers, so that somebody always waits to take over, and they reach
// a server through one proxy each.
//
// A child writes to its standard output which ids it drew, and which time it was
// granted. What a killed child had drawn and not written yet is lost, and not
// checked; but nobody else has seen those ids either, so that they can only be
// missed and not be a repeat that matters. Batches are small and written at once.
//
// # What is checked
//
//   - No id comes twice, over all processes and restarts.
//   - Every id is positive.
//   - The ids of each goroutine that draws ascend.
//   - Each id's tick lies within the time that the generator which drew it had
//     reserved under the id's number. The authority is a table that triggers fill
//     with every version of every row that was committed; what processes say they
//     own is not asked.
//   - No process was granted time that is not reserved for it there.
//   - Who gives a number back leaves no time below reserved_until in which it has
//     not stamped its last: the next holder begins there.
//   - No write to a row takes time back from it, but for a release, and none
//     repeats a token.
//
// A run in which something did not happen that it is meant to survive (a takeover,
// a loss, an outage, ...) fails too.
//
// # How to run it
//
// UIDRING_TORTURE=1 go test runs it, a minute or so. UIDRING_TORTURE_IDS is how
// many ids to collect over all databases, UIDRING_TORTURE_SEED has the same things
// done in the same order (the times at which the processes then do what they do
// are their own), and UIDRING_TORTURE_FAULT (floor, window or release) makes
// children break the protocol, which has to fail the run. TestSeededFaults holds
// the checks to that.
//
// Without a server's programs its part is skipped. Linux only: elsewhere, parents
// that die leave their children behind.
package torture
