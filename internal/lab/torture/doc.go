// Package torture has no code, only a test that disturbs generators in several
// processes on each real store. The test kills, stops, closes and restarts the
// processes, and moves their clocks by hours. It kills, locks and cuts off servers,
// drops packets, and restores counters from a copy. In the end it compares every id with
// all others, and with what its process had reserved.
//
// # Who takes part
//
// The test is the parent. It starts the servers, on free ports of loopback. Children are
// the test binary again, each with one generator, and reach servers through links of their
// own. There is one child more than there are numbers, so that one always waits to take
// over. A child writes to its standard output which ids it drew, and what it reserved
// before ids of it are drawn. What a killed child had drawn and not written yet is lost, and
// not checked: nobody else has seen those ids either.
//
// # What is checked
//
//   - No id comes twice, over all processes and restarts. Every id is positive, and the ids
//     of each goroutine that draws ascend, but for Slots.
//   - Each id's tick lies within the time that its process had reserved under its number.
//     The authority is the rows that there are in the end: each write names the token that
//     it replaced, so a row leads to all writes that were ever committed to it.
//   - No write that a store reported done is missing there, none takes time back but for a
//     release, and no process was granted time that is not reserved for it there.
//   - Each id of a counter lies in a range that its process reserved, and was not given
//     back. A counter that is restored below what all processes hold is refused by each
//     (uid.ErrRewound), and by nobody else.
//
// A run fails too if an event did not happen that it is meant to survive. TestStyles has short runs
// of what the runs on every backend leave out. TestHerds starts fifty processes at once, and kills
// them. TestSeededFaults makes children break the protocol, which the judge has to find.
//
// # How to run it
//
// UIDRING_TORTURE=1 go test runs it, in some minutes. UIDRING_TORTURE_IDS is how
// many ids to collect over all backends. UIDRING_TORTURE_SEED repeats the actions of
// a run in the same order, though not at the same instants. UIDRING_TORTURE_FAULT
// (floor, window, release or return) makes children break the protocol.
//
// If a server's programs are missing, its part is skipped. The test runs on Linux only:
// elsewhere, a parent that dies would leave its children behind.
package torture
