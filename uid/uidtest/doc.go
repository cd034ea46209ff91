// Package uidtest has generators for testing code that draws ids: their ids are known in advance,
// and they fail or block when the test says so.
//
// [NewSequence] counts 1000, 1001, 1002, so a test can compare whole documents. [NewClocked] makes
// ids that carry the time of a [Clock] that the test moves. [Fake.Fail] makes calls fail, and
// [Fake.Block] makes ids unavailable.
//
// [WorkerSource] is for tests with the real generators, such as uid.Cached: it gives out worker
// numbers without a database, withdraws them and replaces them.
//
// Everything here is safe for concurrent use, in parallel tests and in testing/synctest bubbles.
// Generators are closed when their test ends.
package uidtest
