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
// A Client fetches the next answer when half of the last answer is used. Its size follows the
// measured rate, so that ids last Config.Ahead: while no server answers, they last for at least
// half of that. When servers refuse the size of a request (400, 413), a Client asks for half at
// once; after 503 or a time-out, for half next time. Ids that a Client drops, for their age
// (Config.MaxAge) or at Close, are a gap.
//
// A Client begins with a random server, and stays with a server that answers. When one fails, or
// does not answer within Config.Timeout, the Client asks the next, and leaves the failed server
// out for 0.1 seconds, up to 10 if failures continue. A single URL, such as a load balancer's, is
// asked a second time. After a time-out the Client uses another connection: it speaks HTTP/1.1.
//
// If an answer does not lie above the earlier answers of its instance, or has an id that
// another instance gave, a Client refuses the instance for good, with [uid.ErrRewound]. The server
// was restored from a snapshot, a proxy repeats answers, or two servers have stores of their
// own. A Client remembers 1,000 instances and the 1,000 highest runs of ids, and does not see
// the ids of other clients.
package uidclient
