// Package uidtest has generators for the tests of code that draws ids: their ids are known
// before, and they fail and block when the test says so.
//
// [NewSequence] counts: 1000, 1001, 1002. So a test compares whole documents. [NewClocked] makes
// ids of a [Clock] that the test moves. [Fake.Fail] makes calls fail, and
// [Fake.Block] makes them find no id.
//
// [WorkerSource] is for tests with the real generators, such as uid.Cached: it gives worker
// numbers without a database, takes them away and gives others.
//
// Everything here may be used from any number of goroutines, in parallel tests and in
// bubbles of testing/synctest. Generators are closed when their test ends.
package uidtest
