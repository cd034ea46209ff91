// Package uidtest provides generators for testing code that draws ids: they return ids known in
// advance, and fail or block when the test says so.
//
// [NewSequence] returns a generator of consecutive ids, such as 1000, 1001 and 1002, so a test
// can compare entire outputs. [NewClocked] returns a generator whose ids carry the time of a
// [Clock], which the test moves. [Fake.Fail] makes calls fail, and [Fake.Block] makes ids
// unavailable.
//
// [WorkerSource] is for tests with the real generators, such as uid.Cached: it gives out worker
// numbers without a database, withdraws them and replaces them.
//
// Everything here is safe for concurrent use, in parallel tests and in testing/synctest bubbles.
// Generators are closed when their test ends.
package uidtest
