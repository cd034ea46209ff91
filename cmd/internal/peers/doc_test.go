// Package peers has no code but benchmarks: of the generators, of libraries and counters
// that make ids too, and of the server, each beside what its promise is measured by.
//
//	make bench         the generators and their peers
//	make serverbench   the server
//
// Both write their part of BENCHMARKS.md, in this repository's root. They are a module of
// their own, so that nobody else downloads the peers.
package peers
