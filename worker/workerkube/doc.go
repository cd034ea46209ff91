// Package workerkube leases worker numbers from the Kubernetes API: a Deployment needs no
// database for them.
//
//	config, err := rest.InClusterConfig()
//	gen, err := uid.NewCached(ctx, workerkube.New(config, lease.Config{}), uid.CachedConfig{})
//
// [New] returns a lease.Leaser: options, errors and promises are those of package
// worker/lease. [CHOOSING.md] compares the stores. config is client-go's, as
// rest.InClusterConfig or clientcmd return it. The empty namespace is the pod's own.
//
// # Rights
//
// The pod's service account needs a Role with one rule:
//
//	rules:
//	  - {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, list, create, update]}
//
// A start checks these rights and fails with [ErrRights], which names what is missing. It
// fails with [ErrNamespace] or [ErrQuota] if the namespace or its ResourceQuota is the
// reason. [A manifest] shows an application with its Role. Anyone who has these rights can
// make ids repeat.
//
// # Objects
//
// Each number is a Lease object of coordination.k8s.io/v1. With the prefix uidring:
//
//	uidring.7         the number 7: token, reserved_until and last holder
//	uidring.given.0   the least number that was never given, for Leasers whose range begins at 0
//	uidring.ranges    where the bounds of holders begin, for which there are counts
//	uidring.layout    the layout of the ids
//
// Fleets with prefixes of their own share a namespace, and their ids may be equal; see
// [NewStore]. Every object has the label uidring/prefix:
//
//	kubectl get leases -l uidring/prefix=uidring
//
// shows the holders. What the protocol needs is JSON in the annotation uidring/value. The
// fields of the spec are for people.
//
// # What Kubernetes adds to the protocol
//
//   - A write names the resourceVersion that was read, so the API server refuses it after
//     any other write. If a request was repeated because its answer was lost, the token in
//     the object says whether it was done. If that cannot be known, the write fails and
//     counts as in doubt.
//   - Two objects cannot be written at once. In bounds of up to 4,096 numbers, a start makes
//     the number's object first, and then counts it, so that a create that is refused loses no
//     number. In larger bounds the count comes first. If a process ends between the two, or a
//     quota refuses the second, nobody gets that number. The count is never lowered.
//   - The API server judges who is alive, by its own clock: by the time in managedFields,
//     which it sets at each write, and by the Date of its answers. Both are cut to the
//     second. A number expires up to 2 seconds late, and never early. An expiry shorter
//     than 2 seconds, and a MaxSkew shorter than 1 second, have no use. API servers
//     whose clocks differ add their difference.
//   - client-go repeats requests that the API server throttles, after the time that the
//     API server asks for.
//   - QPS and Burst of the rest.Config limit the requests of a Store, by default to 5 a second.
//     A holder sends 8 a minute, or 2 a second while it borrows time, so 5 a second are enough
//     for 37 holders of one Store, and 300 need a QPS of 40. A start sends about 10 requests,
//     and 32 more beside 250 numbers or more. Starts wait for the limit as long as their ctx
//     allows. A RateLimiter of several clients needs the sum.
//   - client-go gives up a connection that a network dropped silently after 45 seconds.
//     HTTP2_READ_IDLE_TIMEOUT_SECONDS and HTTP2_PING_TIMEOUT_SECONDS change that.
//   - While the control plane is unavailable, ids continue to the end of the reserved time
//     (lease.Config.Window). A write that the API server acknowledged is in etcd, on the disks
//     of a majority. A restore of etcd from a snapshot takes it back; holders then report
//     lease.ErrRewound.
//
// [CHOOSING.md]: https://github.com/uidring/uidring/blob/main/worker/CHOOSING.md
// [A manifest]: https://github.com/uidring/uidring/blob/main/cmd/uidringd/deploy/kubernetes/application.yaml
package workerkube
