// Package uidclient draws ids from a uidring server. A [Client] fetches runs of ids ahead of
// demand and deals them from memory, so an id costs nanoseconds and no network call.
//
//	gen, err := uidclient.New(ctx, []string{"https://ids-1:8443", "https://ids-2:8443"}, "orders",
//		uidclient.Config{Token: token})
//	...
//	defer gen.Close()
//	id, err := gen.Next()
//
// Give a Client the URLs of servers that share a store, or that take worker numbers from the same
// table: no two such servers ever issue the same id. Servers with separate stores give the same ids
// to different clients.
//
// An instance is one server process, from its start to its exit. Ids ascend only within one
// instance: when another takes over, a Client first deals all ids of the old one, and those of
// the new one may be lower. New refuses Slots generators, whose ids are unordered.
//
// When half of the ids in the last response have been used, a Client fetches enough ids to last
// for Config.Ahead at the measured rate. So if no server answers, ids last for at least half of
// Ahead. When a server rejects a request as too large (400, 413), a Client halves the request and
// retries immediately; after a 503 or timeout, it halves the next request. Ids that a Client
// drops, because of their age (Config.MaxAge) or at Close, leave a gap.
//
// A Client starts with a random server, and stays with it while it answers. When one fails, or does
// not answer within Config.Timeout, the Client tries the next. It avoids the failed server for 0.1
// seconds, and for up to 10 if failures continue. If there is only one URL, such as a load
// balancer's, the Client tries it a second time before the fetch counts as failed. A Client speaks
// HTTP/1.1 and, after a timeout, opens another connection.
//
// If the ids in an instance's response are not above those in its earlier responses, or repeat an
// id from another instance, a Client rejects that instance for good, with [uid.ErrRewound]. The
// cause is a server restored from a snapshot, a proxy that replays responses, or two servers with
// separate stores. A Client remembers 1,000 instances and the 1,000 highest runs of ids; it
// cannot see the ids of other clients.
package uidclient
