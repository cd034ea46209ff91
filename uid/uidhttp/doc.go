// Package uidhttp is a status page for the generators of a process, mounted where
// an app likes, as net/http/pprof is:
//
//	mux.Handle("/debug/uid/", uidhttp.Handler(map[string]uidhttp.Generator{"orders": gen}))
//
// For each generator, by its name, it shows a picture of the ring that moves as
// ids are drawn, borrowed time against its bound, worker number and lease, what
// was refused and waited for, the age of the oldest id, the end of the layout and
// the last error, and it takes apart an id that is typed in. It says in words
// whether something needs looking after.
//
// # What it does not protect
//
// The page asks nobody who they are. It reveals how many ids a service makes, when,
// and under which worker number, and it has the text of errors from the database:
// put it behind the app's own authentication, or on a port that only operators
// reach. Nothing can be changed through it: it answers GET and HEAD, and shows
// what it is given escaped. It loads nothing from elsewhere, has no inline script
// and no inline style, and says so in a Content-Security-Policy.
//
// # What it costs
//
// Nothing while nobody looks: no goroutine, no counter, nothing kept. An open page
// asks once a second for less than 1 KB a generator, which takes some 20
// microseconds to make (go test -bench Live ./uid/uidhttp), and stops asking while
// it is hidden. Without JavaScript it is a plain page to be reloaded.
//
// It shows the process that answers. Where several stand behind one address, open
// it on each of them.
//
// # As JSON
//
// stats.json, beside the page, has the same. Fields are never renamed or
// removed; more may come. Durations are in seconds, instants in RFC 3339 and UTC,
// ids are strings. Null stands for what there is not: no ring in a generator that
// keeps no ids, no end, no error.
//
//	{
//	  "time": "2026-03-01T12:00:00Z",         when the page was asked, by its own clock
//	  "generators": [                         sorted by name
//	    {
//	      "name": "orders",
//	      "state": "ok",                      or "warning", or "failing"
//	      "notes": [],                        why, as sentences
//	      "layout": "28/22/13,epoch=2026-01-01,unit=1s",
//	      "layout_end": "2034-07-04T21:24:16Z",   null after the year 9999
//	      "layout_ends_soon": false,          less than a year is left
//	      "worker": 7,
//	      "worker_changes": 0,                leased numbers that were lost
//	      "reserved_until": null,             of a leased number
//	      "lease_error": null,                why no more is being reserved
//	      "issued": 1200,
//	      "rejected_takes": 0,                calls that failed
//	      "waited_seconds": 0,                by calls, all together
//	      "ring": {
//	        "capacity": 65536,
//	        "threshold": 32768,               fewer ids than these, and it is filled
//	        "remaining": 64336,
//	        "refills": 1,
//	        "helps": 0,                       ticks put by takers that found it empty
//	        "rejected_puts": 0,
//	        "dropped": 0,                     ids, for their age
//	        "oldest_age_seconds": 0.4,        negative if its time is yet to come
//	        "borrowed_seconds": 7,            ahead of the clock
//	        "max_borrow_seconds": 86400,      null where there is no bound
//	        "last_error": null                why it could not be filled
//	      }
//	    }
//	  ]
//	}
//
// stats.json?name=orders has that one only. decode.json?id=5313046343901185 takes an id
// apart; where there are several generators, name=orders says whose layout to read
// it by:
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
// What is wrong is {"error": "…"}, with status 400 for an id and 404, with
// "names": […], for a name.
package uidhttp
