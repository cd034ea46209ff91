// Package fleet tests servers that share a database behind a plain TCP balancer, while
// clients of every kind draw ids: by HTTP, gRPC and runs, package uidclient through
// the balancer and with the servers' own URLs, and clients of Redis over the servers'
// sockets: go-redis, and those of package redisclients. It has no code of its own.
//
// TestFleet kills, pauses and restarts servers at random. No id is issued twice, and
// in the end each client draws again. It reports how many calls failed, and how long
// they took. TestRollingRestart restarts one server after another in order; no call
// fails.
// A test has a subtest for each kind. It is skipped if the kind cannot run here.
//
// UIDRING_FLEET_ROUNDS is how often a server is tormented, and UIDRING_FLEET_SEED
// repeats the choices of a run.
package fleet
