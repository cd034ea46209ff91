// Package workerkube leases worker numbers from the Kubernetes API, without a database.
//
//	config, err := rest.InClusterConfig()
//	gen, err := uid.NewCached(ctx, workerkube.NewLeaser(config, lease.Config{}), uid.CachedConfig{})
//
// [NewLeaser] returns a lease.Leaser, with the options, errors and guarantees of package
// worker/lease. [docs/choosing.md] compares the stores. The rest.Config comes from client-go's
// rest.InClusterConfig or clientcmd. An empty [Config].Namespace means the pod's own namespace.
//
// # Permissions
//
// The pod's service account needs a Role with this rule (constant [Rule]):
//
//	rules:
//	  - {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, list, create, update]}
//
// The first generator to use a Store checks these permissions. [ErrRights] says what to change;
// [ErrNamespace] and [ErrQuota] say what is wrong. For an application with its Role, see
// [application.yaml]. Anyone with these permissions can make ids repeat.
//
// # Objects
//
// "kubectl get leases -l uidring/prefix=uidring" shows the holders. Each number is a Lease of
// coordination.k8s.io/v1, such as uidring.7. uidring.given records which numbers have been given
// out, uidring.given.7 marks a number that an Assigner chose, and uidring.layout is the ids'
// layout. Do not delete these objects. The protocol reads only the annotation uidring/value; the
// spec is there for human readers. Fleets with different prefixes can share a namespace, but an
// id from one may then equal an id from another.
//
// # What Kubernetes adds to the protocol
//
//   - Two objects cannot be written atomically: a number is recorded as given out, and then its row
//     is created. If the process dies in between, nobody gets the number.
//   - Processes that start together write uidring.given in turn; [docs/choosing.md] says how long
//     they take.
//   - The Store uses the API server's clock, truncated to the second, to judge who is alive. A
//     number expires up to 2 seconds late. An expiry below 2 seconds or a MaxSkew below 1 second
//     is pointless. If the API servers' clocks differ, a number may expire early by up to the
//     difference; add the difference to each of these figures.
//   - QPS and Burst in the rest.Config limit the requests of a Store, by default to a sustained 5 a
//     second. A holder sends 7 requests to start, and a Store's first holder one more, so starting
//     300 holders on one Store takes 7 minutes, or longer if they renew meanwhile. With the default
//     Expiry, a holder sends 8 requests a minute, or 2 a second while it borrows time. At 8 a
//     minute, a QPS of 5 is enough for 37 holders, and 300 holders need a QPS of 40. Requests from
//     up to 3 starting holders take priority over renewals, and a start may take as long as its ctx
//     allows.
//   - After a request that fails or gets no response, the Store closes its connection, so that its
//     next request may reach another API server. If the connection is shared, for example with a
//     watch, client-go closes it only after 45 seconds of silence: see
//     HTTP2_READ_IDLE_TIMEOUT_SECONDS and HTTP2_PING_TIMEOUT_SECONDS.
//
// [docs/choosing.md]: https://github.com/uidring/uidring/blob/main/docs/choosing.md
// [application.yaml]: https://github.com/uidring/uidring/blob/main/cmd/uidringd/deploy/kubernetes/application.yaml
package workerkube
