// Package uidstatus provides a status page for the generators of a process. An app mounts the page
// alongside its own handlers, as it would those of net/http/pprof:
//
//	status, err := uidstatus.New(map[string]uid.Reporter{"orders": gen}, uidstatus.Config{})
//	...
//	mux.Handle("/debug/uid/", status)
//
// The page shows the state of each generator, with notes on what needs attention, and decodes an
// id that you type in. If there are several generators, a table lists at most 100, those in
// trouble first; a search by name finds the others. Each process has its own page, which names
// the process.
//
// # Security
//
// The page does not authenticate its users, and exposes the id rate, the host, versions and the
// text of database errors. Put the page behind the app's own authentication, or on a port that
// only operators can reach.
//
// A request's Host header must name localhost, an IP address or an entry of [Config.Hosts].
//
// The page changes nothing, loads nothing from elsewhere, and has no inline script or style.
// While visible, the page reloads once a second; without JavaScript, reload it by hand.
//
// # As JSON
//
// The same data is available as stats.json, under the same path as the page, and [Page.String]
// returns it for package expvar:
//
//	{
//	  "time": "2026-03-01T12:00:00Z",
//	  "process": {"host": "host-7", "pid": 4711, "program": "shop", "version": "v1.2.3",
//	    "uidring": "v0.4.0", "started": "2026-03-01T08:48:00Z"},
//	  "generators": [{"name": "orders", "state": "ok", "notes": [],
//	    "figures": {"ids_issued_total": 1200, "ids_remaining": 64336, …}}],
//	  "found": 1
//	}
//
// A state is ok, warning or failing. The figures are the metrics of package uidprom, without the
// prefix "uidring_"; metrics.txt in that package explains each of them. The object "figures" also
// has fields that hold text or ranges of ids and are not metrics: last_error, lease_error,
// load_from, load_tag, load_in_use and load_next. Figures without a value are left out. A version
// that the build did not record, for example because of -buildvcs=false, is null. Later versions
// may add fields, but will not rename or remove any.
//
// stats.json?name=orders returns only that generator, and stats.json?q=ord returns those whose
// names contain "ord", ignoring case. The document lists at most 100 generators, or as many as a
// parameter like limit=5000 allows: first those in trouble, then those that issued the most ids.
// [Page.String] includes all generators.
package uidstatus
