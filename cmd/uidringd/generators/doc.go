// Package generators opens the generators of a config and serves them as a catalog.
//
// [Open] opens all of them at once. If one fails, none is left open, and the error
// names each generator and store that failed. [Set.Close] gives back worker numbers
// and unused ranges.
//
// # Which generator is ready
//
// A generator under a worker number is ready if it issues an id: [Set.Unready] draws
// one, at most once a second however often it is called. A counter is ready while it
// has ids loaded or can load more; no id is drawn, since each would be a gap. Tags are
// ready unless all tags that are open cannot issue ids.
package generators
