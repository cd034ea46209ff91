// Package uidstatus is a status page for the generators of a process. An app mounts
// the page beside its own handlers, as with net/http/pprof:
//
//	status, err := uidstatus.New(map[string]uidstatus.Generator{"orders": gen}, uidstatus.Config{})
//	...
//	mux.Handle("/debug/uid/", status)
//
// For each generator the page shows the ring or the ranges, the times in ids, the worker
// number and its lease, counts, the layout's end and the present error. Notes say
// what needs attention. The page decodes an id that you type in. Tables list
// several generators, each with a page of its own: those in trouble first, and at most
// 100 of a kind. A search by name asks the server for others.
//
// The page names the host, process id and version of the process that answers. Each
// process has its own page, even if several share an address.
//
// # Protect it
//
// The page does not authenticate. It shows how many ids a service makes, when, and
// under which worker number; host, process id and versions; and the text of database
// errors. Put the page behind the app's own authentication, or on a port that only
// operators reach.
//
// A request must name localhost, an IP address or an entry of [Config.Hosts]:
// otherwise a foreign web page could read the page by DNS rebinding.
//
// The page changes nothing. It answers GET and HEAD, escapes all text, loads nothing
// from elsewhere, and has no inline script or style. The page's
// Content-Security-Policy makes the browser enforce that.
//
// # What it costs
//
// Nothing while no page is open: no goroutine, no counter, no memory per request. An
// open page reloads its figures once a second; a hidden page does not. go test -bench Page
// ./uid/uidstatus prints the bytes and the time of an answer. Without JavaScript, reload the page by hand.
//
// # As JSON
//
// stats.json, beside the page, has the same data, and [Page.String] returns it for
// package expvar. Later versions may add fields, but do not rename or remove any.
// Durations are in seconds, instants in RFC 3339 and UTC, and ids are strings. Null
// stands for no such part, no limit, no end or no error.
//
//	{
//	  "time": "2026-03-01T12:00:00Z",         of this answer, by the server's clock
//	  "process": {
//	    "host": "host-7",
//	    "pid": 4711,
//	    "program": "shop",
//	    "version": "v1.2.3",                  of the program; null for a build from a working tree
//	    "uidring": "v0.4.0",                  version of this library; null likewise
//	    "started": "2026-03-01T08:48:00Z"
//	  },
//	  "generators": [                         sorted by name
//	    {
//	      "name": "orders",
//	      "state": "ok",                      or "warning", or "failing"
//	      "notes": [],                        why, as sentences
//	      "closed": false,
//	      "issued": 1200,
//	      "remaining": 64336,                 ids that are ready in memory
//	      "dropped": 0,
//	      "rejected_takes": 0,                calls that failed
//	      "starved": 0,                       calls that found no id
//	      "waited_seconds": 0,                by all calls together
//	      "last_error": null,                 why no further ids can be made ready
//	      "clock": {                          null if ids carry no time
//	        "layout": "28/22/13,epoch=2026-01-01,unit=1s",
//	        "layout_end": "2034-07-04T21:24:16Z",   null after the year 9999
//	        "layout_ends_soon": false,        true in the last year
//	        "worker": 7,
//	        "worker_max": 4194303,            largest number that the layout can hold
//	        "worker_changes": 0,              leased numbers that were lost
//	        "reserved_until": null,           for a leased number
//	        "lease_error": null               why the lease is not being renewed
//	      },
//	      "ring": {                           null without a ring
//	        "capacity": 65536,
//	        "threshold": 32768,               the executor fills a ring with fewer ids
//	        "refills": 1,                     ahead of demand
//	        "helps": 0,                       by callers that found the ring empty
//	        "rejected_puts": 0,               ticks whose ids were dropped
//	        "oldest_age_seconds": 0.4,        of the next id; negative if its time is ahead of the clock
//	        "max_age_seconds": 60,            limit of oldest_age_seconds
//	        "borrowed_seconds": 7,            by how much the last id is ahead of the clock
//	        "max_borrow_seconds": 86400,      limit of borrowed_seconds
//	        "span_seconds": 8                 what the ids of a full ring cover
//	      },
//	      "loads": null
//	    },
//	    {
//	      "name": "invoices",                 a segment or a client; from state to last_error as above
//	      "clock": null,
//	      "ring": null,
//	      "loads": {
//	        "from": "mysql table leaf_alloc", or the URL of the server that answered last
//	        "tag": "invoices",                or the server's generator
//	        "instance": "",                   of the server that answered
//	        "instance_changes": 0,
//	        "in_use": {
//	          "first": "1001",
//	          "end": "2001"                   the first id after the range
//	        },
//	        "next": null,                     the range after in_use, once it is loaded
//	        "loading_seconds": 0,             of the load that is under way
//	        "step": 1000,                     ids of the last load
//	        "loads": 3,                       requests for ids
//	        "failures": 0,                    requests that failed
//	        "load_seconds": 0.002,            of the last request
//	        "returned": 0                     ids that Close gave back
//	      }
//	    }
//	  ],
//	  "found": 2                              how many there are
//	}
//
// stats.json?name=orders has that generator only, and stats.json?q=ord those whose names
// contain the text, in any case. There are at most 100: those in trouble, then those that
// issued most ids. stats.json?limit=5000 has up to 5,000. [Page.String] has all.
//
// decode.json?id=5313046343901185 decodes an id. If the ids of several generators
// carry time, name=orders chooses the layout:
//
//	{
//	  "name": "orders",
//	  "id": "5313046343901185",
//	  "time": "2026-01-02T18:57:10Z",         null after the year 9999
//	  "tick": 154630,
//	  "worker": 7,
//	  "sequence": 1
//	}
//
// An error is {"error": "…"}: with status 400 for a wrong id, and with status 404 and
// "names": […] for an unknown name. A request under a host name that is not allowed has
// status 403.
package uidstatus
