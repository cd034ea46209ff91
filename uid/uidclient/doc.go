// Package uidclient draws ids from a uidring server. A [Client] fetches runs of ids ahead of
// demand and deals them from memory, so an id costs nanoseconds and no network call.
//
//	gen, err := uidclient.New(ctx, []string{"https://ids-1:8443", "https://ids-2:8443"}, "orders",
//		uidclient.Config{Token: token})
//	...
//	defer gen.Close()
//	id, err := gen.Next()
//
// Give a Client the URLs of servers that share a store, or that take worker numbers from one
// table: these never issue an id twice. Servers with separate stores give the same ids to
// different clients.
//
// An instance is one run of one server process. Ids ascend only while one instance serves: when
// another takes over, a Client first deals all ids of the old one, and those of the new one may
// be lower. New refuses Slots generators, whose ids have no order.
//
// When half of the last answer is used, a Client fetches enough ids for Config.Ahead at the
// measured rate. So if no server answers, ids last for at least half of Ahead. When a server
// refuses the size of a request (400, 413), a Client halves it and retries at once; after 503 or a
// timeout, it halves the next request. Ids that a Client drops, for their age (Config.MaxAge) or at
// Close, leave a gap.
//
// A Client starts with a random server, and stays with a server that answers. When one fails, or
// does not answer within Config.Timeout, the Client tries the next. It avoids the failed server for
// 0.1 seconds, and for up to 10 if failures continue. If there is only one URL, such as a load
// balancer's, it is retried once. It speaks HTTP/1.1, and after a timeout it opens another
// connection.
//
// If an instance's answer is not above its earlier ones, or repeats another instance's id, a Client
// rejects the first instance for good, with [uid.ErrRewound]. Either the server was restored from a
// snapshot, a proxy repeats answers, or two servers have separate stores. A Client remembers 1,000
// instances and the 1,000 highest runs of ids; it cannot see the ids of other clients.
package uidclient
