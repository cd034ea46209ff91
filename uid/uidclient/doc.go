// Package uidclient makes ids of a uidring server in this process. A [Client]
// fetches runs of ids ahead of demand and deals them from memory, so an id costs
// nanoseconds and no network call.
//
//	gen, err := uidclient.New(ctx, []string{"https://ids-1:8443", "https://ids-2:8443"}, "orders",
//		uidclient.Config{Token: token})
//	...
//	defer gen.Close()
//	id, err := gen.Next()
//
// A Client is a [uid.Generator]. Its ids are as unique as those of its servers. Servers
// that share a store, or take worker numbers from one table, never issue an id twice.
//
// # Order
//
// An instance is one start of one server. Ids ascend only while one instance serves.
// The ids of another instance may be lower. A Client deals them, from a ring of their
// own, once the ids of the former instance are used up. So a failover or a restart of
// a server starts a new order. Generators of the kind slots have no order, and a
// Client cannot fetch their ids.
//
// # Fetching
//
// A Client fetches the next answer when half of the last answer is used. Its size
// follows the measured rate, so that the ids last Config.Ahead: while no server
// answers, ids continue for at least half of that. Config.MaxAge bounds the age of
// ids, counted from the request that fetched them. Ids that a Client fetched and
// dropped, for their age or at Close, are a gap.
//
// # Failover
//
// A Client begins with a random server, and keeps to a server that answers. When a
// server fails, or does not answer for Config.Hedge, the Client asks the next
// server. It uses the first answer; the ids of a second are a gap. After a failure it
// leaves the server out for 0.1 seconds, and up to 10 seconds if failures go on. If
// there is one URL, such as a load balancer's, the Client asks it a second time over
// another connection. A Client speaks HTTP/1.1, so that no two requests share one.
//
// # A server that goes back
//
// Each answer names its instance, and has a number that ascends. If the number or the
// ids of an answer do not lie above the instance's earlier ones, a Client refuses the
// instance for good, with [ErrRewound]. The server was restored from a snapshot, or a
// proxy repeats answers. Ids of another instance may be lower. A Client remembers
// 1,000 instances.
package uidclient
