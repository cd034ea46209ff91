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
// that share a store, or take worker numbers from one table, never issue an id twice, and
// neither does a generator of that store in another process. Give a Client the URLs of such
// servers only: servers with stores of their own give equal ids to different clients.
//
// # Order
//
// An instance is one start of one server. Ids ascend only while one instance serves.
// The ids of another instance may be lower. A Client first deals all ids of the old
// instance. The ids of the new one have a ring of their own. So a failover or a restart of
// a server starts a new order. Generators of the kind slots have no order: New refuses
// them.
//
// # Fetching
//
// A Client fetches the next answer when half of the last answer is used, so that ids last
// Config.Ahead. It keeps to a server that answers, and asks the next one when a server fails or
// does not answer within Config.Timeout. Ids that a Client fetched and dropped, for their age or at
// Close, are a gap. [README.md] says how sizes and pauses follow the servers.
//
// # A server that repeats ids
//
// Each answer names its instance, and has a number that ascends. If the number or the
// ids of an answer do not lie above the instance's earlier ones, a Client refuses the
// instance for good, with [ErrRewound]. So it does if another instance has given it one
// of the ids. The server was restored from a snapshot, a proxy repeats answers, or two
// servers have stores of their own. A Client remembers 1,000 instances and the 1,000
// highest runs of ids. It does not see the ids of other clients.
//
// [README.md]: https://github.com/uidring/uidring/blob/main/uid/uidclient/README.md
package uidclient
