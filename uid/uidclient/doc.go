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
// Give a Client the URLs of servers that share a store, or take worker numbers from one
// table: these never issue an id twice. Servers with stores of their own give equal ids to
// different clients.
//
// An instance is one start of one server. Ids ascend only while one instance serves. A
// Client first deals all ids of the old instance; those of the new one may be lower.
// Generators of the kind slots have no order: New refuses them.
//
// A Client fetches the next answer when half of the last answer is used, so that ids last
// Config.Ahead. It keeps to a server that answers, and asks the next one when a server fails or
// does not answer within Config.Timeout. Ids that a Client drops, for their age or at Close, are
// a gap. [README.md] says how sizes and pauses follow the servers.
//
// If an answer does not lie above the earlier answers of its instance, or has an id that
// another instance gave, a Client refuses the instance for good, with [uid.ErrRewound]. The server
// was restored from a snapshot, a proxy repeats answers, or two servers have stores of their
// own. A Client remembers 1,000 instances and the 1,000 highest runs of ids, and does not see
// the ids of other clients.
//
// [README.md]: https://github.com/uidring/uidring/blob/main/uid/uidclient/README.md
package uidclient
