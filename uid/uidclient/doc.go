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
// A Client is a [uid.Generator]. Its ids are as unique as those of the servers:
// servers that share a store, or that have worker numbers from one table, never
// issue an id twice.
//
// # Order
//
// Ids ascend only while one server instance serves: an instance is one start of
// one server. When another instance answers, its ids may be lower. They are dealt
// once the ids of the former instance are used up, from a ring of their own. So a
// single failover or restart of a server starts a new order. Generators of the kind
// slots have no order and cannot be fetched.
//
// # Fetching
//
// The next answer is fetched when half of the last one is used. Its size follows
// the measured rate, so that it lasts Config.Ahead: ids continue for at least half
// of that while no server answers. Config.MaxAge bounds the age of ids, counted from
// the request that fetched them. Ids that were fetched and not issued, because of
// their age or by Close, are a gap.
//
// # Failover
//
// A Client begins with a random server and stays with it while it answers. It asks
// the next server at once when one fails, and also when one has not answered for
// Config.Hedge. The first answer is used; the ids of the other are a gap. A server
// that failed is not asked again until a pause is over, which grows from 0.1 to 10
// seconds. A single URL, of a load balancer, is asked a second time over another
// connection.
//
// # A server that goes back
//
// Each answer names its instance and has a number, which ascends. A Client refuses
// an instance for good, with [ErrRewound], if the number or the ids of an answer do
// not lie above those before: the server was restored from a snapshot, say, or a
// proxy repeats answers. Another instance may lie lower. A Client remembers 1,000
// instances.
package uidclient
