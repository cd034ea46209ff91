/*
 * A model of the lease: holders that compete for one worker number, and a network
 * that delays writes and loses answers. A holder owns a grant, a range of ticks: it may
 * stamp tick k iff from <= k < until. Names follow worker/lease/internal/protocol:
 * Holder, target, confirm, leaving and doubts mean the same there, and read and swap
 * are the requests Read and Swap. A Look has the effect of a Read. Checked over every
 * interleaving, at each stamp:
 *
 *   unique    no tick is stamped twice under the number, by any holders
 *   covered   the tick lies below a reserved_until that this holder has committed
 *             since it last lost or released the number
 *   monotone  the ticks of a holder, and of the process that follows its release, increase
 *   noticed   after a restore of the row, a holder stamps no tick beyond what it had been
 *             granted before, until it has taken the number again
 *
 * Between any two steps a holder may pause for any time. Meanwhile it may expire, and
 * others may take, use and release the number. Then it continues with what it remembers.
 * So a holder that reads a row of another finds the row expired, at any time: heartbeats
 * decide who may write, and safety does not depend on them. Each reading of a clock may
 * be behind or ahead: the store's after a failover, the holder's after a step, and what a
 * holder expects whose clock stood still. A renewal reads first, or not. A crash is a holder
 * that never continues. After a release, another process continues in its place.
 *
 * A statement is one step. A write is answered at once, or the holder gives it up. A
 * write that was given up is in flight: it is executed at any later time, if its token
 * still fits, or never. So a lost answer is a write in flight that is executed next. The
 * answer that nothing was done leaves a write in doubt, just as a missing answer: a
 * driver that repeats a statement may give that answer for a swap that was done. So does a
 * store that refuses a renewal because its clock is not what the holder expects. A holder
 * may forget a write in doubt, here at once: it remembers its last ones only.
 *
 * The ticks that a holder stamps between two of its statements, it stamps right before
 * the second. That loses no fault: nobody else reads what stamping changes, and the
 * second of two equal ticks is found, whichever holder stamps it.
 *
 * With EVENTS, somebody touches the row so many times, between any two steps:
 *
 *   frees     writes a token of their own and the reserved_until that they read, if the
 *             row still is what they read
 *   deletes   the row, once all clocks have passed its reserved_until: no tick below that
 *             is stamped any more. The next holder makes a row, and begins at its clock
 *   restores  the row as it was at some time before. From then on, ticks repeat unless
 *             generators stop, as the docs say, so unique and monotone are not checked
 *
 * make models checks the sizes below, and also WRITES=6 FLIGHTS=1 HORIZON=6; EVENTS=1.
 * Each of these defines seeds a fault. The check has to find it by the assertion of
 * the property in brackets, which names that property in its line:
 *
 *   NO_FLOOR       (unique) a takeover starts at the clock, not at the row's reserved_until
 *   NO_TOKEN       (unique) an extension is written without comparing the token
 *   ISSUE_FIRST    (covered) ticks are stamped before the write that reserves them is done
 *   WALL_CLOCK     (unique) a renewal writes clock + window, though ticks beyond are stamped
 *   SETTLE_BY_NAME (covered) a write in doubt counts as done if the row has been written
 *                  under the holder's name, which all share, whatever its token
 *   SETTLE_BY_LAST (covered) a write in doubt that was done is taken for the last one sent
 *   RELEASE_LATE   (monotone) a holder stamps until its release is answered
 *   RELEASE_LAST   (unique) a release lowers reserved_until to the last tick + 1 even if
 *                  that was stamped under an earlier grant
 *   FREE_LOWERS    (unique) who frees the row writes the clock as its reserved_until
 *   FREE_BLIND     (unique) who frees the row does not compare the token
 *   DELETE_EARLY   (unique) the row is deleted while a clock is behind its reserved_until
 *   KEEP_RESTORED  (noticed) a holder that finds an earlier row of its own goes on with it
 *
 * Not in the model, but in the tests of internal/protocol:
 *
 *   - a release while the acquisition is in doubt
 *   - that a grant keeps the later of two ends
 *   - clones of a process
 *
 * Not in the model:
 *
 *   - other numbers: a holder that lost this one tries for it again
 *   - sequences within a tick
 *   - a database that forgets a commit
 *   - skew, and bounds to borrowing
 *   - that anything is ever granted: only safety is checked
 */

#if defined(FREE_LOWERS) || defined(FREE_BLIND) || defined(DELETE_EARLY) || defined(KEEP_RESTORED)
#define EVENTS 1
#endif
#ifndef EVENTS
#define EVENTS 0    /* times that somebody touches the row */
#endif
#if EVENTS && !defined(WRITES)
#define WRITES 4
#define FLIGHTS 1
#define HORIZON 5
#endif
#ifndef HOLDERS
#define HOLDERS 2
#endif
#ifndef WRITES
#define WRITES 5    /* writes that are sent */
#endif
#ifndef FLIGHTS
#define FLIGHTS 2   /* writes in flight at a time: 1 or 2 */
#endif
#ifndef HORIZON
#define HORIZON 7   /* ticks are 0 to HORIZON-1; nothing is reserved beyond */
#endif

#define WINDOW 2
#define DOUBTS (FLIGHTS + 1)
#define NONE 255

typedef Row   { byte token; byte reserved };
typedef Write { byte by; byte old; byte token; byte reserved };

Row row;
byte tokens;             /* the last token made: counting makes a fresh one */
Write flight[FLIGHTS];   /* token 0 is none */

/* For the checks: no part of the lease. */
byte watched = NONE;     /* a tick that was stamped: the search tries each */
byte last[HOLDERS];      /* greatest tick that each holder has stamped, + 1 */
byte committed[HOLDERS]; /* greatest reserved_until that each holder has committed */
#if EVENTS
byte passed;             /* all clocks have passed this tick */
byte granted[HOLDERS];   /* until of each holder */
byte bound[HOLDERS] = NONE; /* what it was when the row went back to less */
bool restored;
#else
#define passed 0
#define restored false
#define bound committed
#endif

#define max(a, b) (((a) > (b)) -> (a) : (b))
#define ahead(t)  (((t) + WINDOW < HORIZON) -> (t) + WINDOW : HORIZON)
#define target(t) max(t, ahead(max(now, next)))

#ifdef NO_TOKEN
#define ANY 254
#define fits(t) ((t) == ANY || row.token == (t))
#else
#define fits(t) (row.token == (t))
#endif
#ifdef SETTLE_BY_NAME
#define isDoubt(d) true
#else
#define isDoubt(d) (doubt[d] == row.token)
#endif
#ifdef SETTLE_BY_LAST
#define settledTo sent
#else
#define settledTo row.reserved
#endif
#ifdef RELEASE_LAST
#define unused next
#else
#define unused max(next, from)
#endif

#define begin max(passed, max(next, from))

/* clock reads the holder's clock, which is behind or ahead of the next tick to stamp */
inline clock() {
	if
	:: now = 0
	:: now = max(next, from) + 1
	fi
}

/* put writes the row. A token never returns but by a restore, so a write in flight with an
   old token will not be done: it is removed. */
inline put(fresh, upTo) {
	row.token = fresh;
	row.reserved = upTo;
	for (i : 0 .. FLIGHTS - 1) {
		if
		:: fits(flight[i].old) || EVENTS -> skip
		:: else -> forget(i)
		fi
	}
	i = 0
}

inline forget(w) {
	flight[w].by = 0;
	flight[w].old = 0;
	flight[w].token = 0;
	flight[w].reserved = 0
}

/* execute is what the database does with a write */
inline execute(who, was, fresh, upTo) {
	done = fits(was);
	if
	:: done ->
		committed[who] = max(committed[who], upTo);
		put(fresh, upTo) /* last: it may remove the write in flight whose fields these are */
	:: else
	fi
}

/* swap sends a write; done means that the answer was that the row is written */
inline swap(upTo) {
	tokens++;
	old = token;
#ifdef NO_TOKEN
	if
	:: held && !leaving -> old = ANY
	:: else
	fi;
#endif
	if
	:: execute(me, old, tokens, upTo)
	:: fits(old) && (flight[0].token == 0 || flight[FLIGHTS - 1].token == 0) ->
		i = (flight[0].token == 0 -> 0 : FLIGHTS - 1);
		flight[i].by = me;
		flight[i].old = old;
		flight[i].token = tokens;
		flight[i].reserved = upTo;
		i = 0
	fi;
	old = 0
}

/* confirm takes over the result of a write that was done. No other write is in doubt
   then: the others compare a token that is gone. */
inline confirm(written, upTo) {
#ifdef NO_FLOOR
	if
	:: !held -> clock(); from = now; now = 0
	:: else
	fi;
#endif
	held = true;
	token = written;
	if
	:: !leaving -> until = upTo
	:: else
	fi;
#if EVENTS
	granted[me] = until;
#endif
	settle()
}

inline settle() {
	do
	:: doubts > 0 -> doubts--; doubt[doubts] = 0
	:: else -> break
	od
}

/* drop forgets the grant: the number is lost or released */
inline drop() {
	held = false;
	leaving = false;
	token = 0;
	from = 0;
	until = 0;
	committed[me] = 0;
#if EVENTS
	granted[me] = 0;
	bound[me] = NONE;
#endif
	settle()
}

/* read reads the row; the token shows who wrote it last */
inline read() {
	if
	:: row.token == token /* nobody has written since */
	:: else ->
		do
		:: i < doubts && !isDoubt(i) -> i++
		:: else -> break
		od;
		if
		:: i < doubts ->
			confirm(row.token, settledTo)
#ifdef KEEP_RESTORED
		:: i == doubts && held && restored -> token = row.token
#endif
		:: else -> /* somebody else: the number is lost, or free */
			drop();
			token = row.token;
			from = row.reserved
		fi;
		i = 0
	fi
}

/* stamp stamps any number of ticks, also ahead of the clock */
inline stamp() {
	do
	:: begin < until ->
		k = begin;
		do
		:: k + 1 < until -> k++ /* the clock is there */
		:: break
		od;
		assert(restored || k != watched);  /* unique */
		assert(restored || k >= last[me]); /* monotone */
		assert(k < committed[me]);         /* covered */
		assert(k < bound[me]);             /* noticed */
		next = k + 1;
		last[me] = next;
		if
		:: watched == NONE -> watched = k
		:: true
		fi;
		k = 0
	:: break
	od
}

/* write acquires the number, or renews or releases it */
inline write() {
	if
	:: !leaving ->
		clock();
		reserved = target(max(from, until));
#ifdef WALL_CLOCK
		if
		:: held -> reserved = ahead(now)
		:: else
		fi;
#endif
		now = 0;
#ifdef ISSUE_FIRST
		until = reserved;
#endif
#ifdef SETTLE_BY_LAST
		sent = reserved;
#endif
	:: held ->
		leaving = true;
#ifndef RELEASE_LATE
		until = 0;
#endif
		reserved = unused
	fi;
	swap(reserved);
	if
	:: done && !leaving -> confirm(tokens, reserved)
	:: done && leaving -> /* another process continues here */
#ifdef RELEASE_LATE
		stamp();
#endif
		drop();
		next = 0
	:: !done && doubts < DOUBTS -> doubt[doubts] = tokens; doubts++
	:: !done -> skip /* forgotten: the holder remembers its last writes in doubt only */
	fi;
	reserved = 0;
	done = false
}

/* Holders are alike: the first to send a write is called 0, the next one 1. Hence
   tokens >= me. */
proctype Holder(byte me) {
	byte token;            /* of the row, as last known */
	byte from, until;      /* the grant */
	byte next;             /* the last tick stamped, under any grant, + 1 */
	byte doubt[DOUBTS];    /* tokens of writes in doubt */
	byte doubts, reserved, old, now, i, k;
	bool held, leaving, done;
#ifdef SETTLE_BY_LAST
	byte sent;
#endif
end:	do
	:: atomic { stamp();
		if
		:: read()
		:: held && !leaving && doubts == 0 /* it renews without a read */
		fi };
		if
		:: atomic { tokens >= me && tokens < WRITES -> stamp(); write() }
		:: true
		fi
	od
}

/* Network executes a write that was given up, at any time or never */
proctype Network(byte w) {
	byte i;
	bool done;
end:	do
	:: atomic {
		flight[w].token != 0 ->
		execute(flight[w].by, flight[w].old, flight[w].token, flight[w].reserved);
		forget(w);
		done = false
	   }
	od
}

#if EVENTS
/* Others free, delete or restore the row */
proctype Others() {
	byte events, old, upTo, i;
	bool done;
end:	do
	:: atomic { events < EVENTS && row.token != 0 && tokens < WRITES ->
		old = row.token;
		upTo = row.reserved;
		events++
	   };
		if
		:: atomic { /* free */
#ifdef FREE_BLIND
			old = row.token;
#endif
#ifdef FREE_LOWERS
			upTo = 0;
#endif
			tokens++;
			done = fits(old);
			if
			:: done -> put(tokens, upTo)
			:: else
			fi;
			done = false;
			old = 0;
			upTo = 0
		   }
		:: atomic { /* delete */
#ifndef DELETE_EARLY
			passed = max(passed, row.reserved);
#endif
			put(0, 0);
			old = 0;
			upTo = 0
		   }
		:: atomic { row.token != old -> /* restore */
			for (i : 0 .. HOLDERS - 1) {
				if
				:: granted[i] > upTo -> bound[i] = granted[i]
				:: else
				fi
			}
			i = 0;
			restored = true;
			row.token = old;
			row.reserved = upTo;
			old = 0;
			upTo = 0
		   }
		fi
	od
}
#endif

init {
	byte i;
	atomic {
		for (i : 0 .. HOLDERS - 1) { run Holder(i) }
		for (i : 0 .. FLIGHTS - 1) { run Network(i) }
#if EVENTS
		run Others()
#endif
	}
}
