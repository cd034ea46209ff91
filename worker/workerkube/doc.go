// Package workerkube leases worker numbers from the Kubernetes API, without a database.
//
//	config, err := rest.InClusterConfig()
//	gen, err := uid.NewCached(ctx, workerkube.NewLeaser(config, lease.Config{}), uid.CachedConfig{})
//
// [NewLeaser] returns a lease.Leaser, with the options, errors and guarantees of package
// worker/lease. [docs/choosing.md] compares the stores. config comes from client-go:
// rest.InClusterConfig or clientcmd. An empty namespace means the pod's own.
//
// # Rights
//
// The pod's service account needs a Role with one rule, [Rule]:
//
//	rules:
//	  - {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, list, create, update]}
//
// Each generator that starts checks these rights. [ErrRights], [ErrNamespace] and [ErrQuota] say
// what to change. [A manifest] shows an application with its Role. Anyone with these rights can
// make ids repeat.
//
// # Objects
//
// "kubectl get leases -l uidring/prefix=uidring" shows the holders. Each number is a Lease of
// coordination.k8s.io/v1, such as uidring.7. uidring.given is the record of given numbers,
// uidring.given.7 marks a number that an Assigner chose, and uidring.layout is the ids' layout.
// Do not delete these three. The protocol reads the annotation uidring/value; the spec is only
// for people. Fleets with different prefixes can share a namespace; their ids may be equal.
//
// # What Kubernetes adds to the protocol
//
//   - Two objects cannot be written atomically: a number is recorded as given, and then its row
//     is made. If the process dies in between, nobody gets the number.
//   - Processes that start together write the record one at a time: [docs/choosing.md] has the figures.
//   - The API server judges who is alive, by its own clock, truncated to the second. A number
//     expires up to 2 seconds late, and never early. An expiry below 2 seconds or a MaxSkew below
//     1 second is pointless. If the clocks of API servers differ, add the difference.
//   - QPS and Burst in the rest.Config limit the requests of a Store, by default to 5 a second. A
//     holder sends 5 requests to start, and a Store's first holder one more, so starting 300 on
//     one Store takes 5 minutes. A holder sends 8 requests a minute, or 2 a second while it
//     borrows time: 5 a second are enough for 37 holders, and 300 need a QPS of 40. Requests to
//     start have priority over renewals, and wait as long as their ctx allows.
//   - After a request that fails or gets no response, a Store closes its connection, so that the
//     next may reach another API server. If others share the connection, for example for a watch,
//     client-go closes it only after 45 seconds of silence: see HTTP2_READ_IDLE_TIMEOUT_SECONDS
//     and HTTP2_PING_TIMEOUT_SECONDS.
//
// [docs/choosing.md]: https://github.com/uidring/uidring/blob/main/docs/choosing.md
// [A manifest]: https://github.com/uidring/uidring/blob/main/cmd/uidringd/deploy/kubernetes/application.yaml
package workerkube
