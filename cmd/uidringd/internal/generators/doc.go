// Package generators opens the generators of a config and serves them as a catalog.
//
// Generators stand alone: [Open] succeeds if one opens, and tries to open the others
// until [Set.Close]. Meanwhile a request for them fails, and their statistics say why. If
// all fail, or a required one, Open fails, leaves none open, and names each generator and
// store that failed. [Set.Close] gives back worker numbers and unused ranges.
//
// # Which generator is ready
//
// A generator under a worker number is ready if it issues an id: [Set.Unready] draws
// one, at most once a second however often it is called. A counter is ready while it
// has ids loaded or can load more; no id is drawn, since each would be a gap. Tags are
// ready unless all tags that are open cannot issue ids.
//
// A server is ready while one generator is, and all required ones are.
package generators
