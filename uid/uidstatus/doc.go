// Package uidstatus is a status page for the generators of a process. An app mounts the page
// beside its own handlers, like net/http/pprof:
//
//	status, err := uidstatus.New(map[string]uidstatus.Reporter{"orders": gen}, uidstatus.Config{})
//	...
//	mux.Handle("/debug/uid/", status)
//
// The page shows the state of each generator, with notes on what needs attention, and decodes an
// id that you type in. If there are several generators, a table lists at most 100, those in
// trouble first; a search by name finds the others. Each process has its own page, which names
// the process.
//
// # Protect it
//
// The page does not authenticate, and shows the rate of ids, the host, versions and the text of
// database errors. Put the page behind the app's own authentication, or on a port that only
// operators can reach.
//
// A request must name localhost, an IP address or an entry of [Config.Hosts].
//
// The page changes nothing, loads nothing from elsewhere, and has no inline script or style.
// An open page that is visible reloads once a second; without JavaScript, reload it by hand.
//
// # As JSON
//
// stats.json, beside the page, has the same data, and [Page.String] returns it for
// package expvar:
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
// A state is ok, warning or failing. The figures are the metrics of package uidprom without
// "uidring_" before the name; its file metrics.txt explains each. There are also texts and ranges:
// last_error, lease_error, load_from, load_tag, load_in_use and load_next. Figures without a value
// are left out. Versions are null in a build from a working tree. Later versions may add fields,
// but will not rename or remove any.
//
// stats.json?name=orders has only that generator, and stats.json?q=ord those whose names contain
// the text, ignoring case. The document has at most 100 generators, or as many as a parameter such
// as limit=5000 allows: first those in trouble, then those that issued the most ids. [Page.String]
// has all.
package uidstatus
