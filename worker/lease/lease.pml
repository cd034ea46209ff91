/*
 * A model of the lease: holders that compete for one worker number, and a network
 * that delays writes and loses answers. What a holder owns is a grant, ticks of the
 * id space: it may stamp tick k iff from <= k < until. Names follow worker/lease/internal/protocol:
 * Holder is its Holder, read and swap are its requests Read and Swap (a Look comes
 * to the same as a Read), and target, confirm, leaving and doubts are what they are
 * there. Checked over every interleaving, at each stamp:
 *
 *   unique    no tick is stamped twice under the number, by whomever
 *   covered   the tick lies below a reserved_until that this holder has committed
 *             since it last lost or released the number
 *   monotone  the ticks of a holder, and of whoever goes on after its release, increase
 *
 * Between any two steps a holder may be stopped for as long as it takes to be judged
 * expired and to see the number taken, used and given back by others; then it goes
 * on with what it remembers. To that end whoever reads a row that is not its own
 * finds it expired, at any time: the heartbeat decides who may write and is no part
 * of what makes it safe. A clock is behind or ahead, anew each time that it is read.
 * A crash is a holder that never goes on. After a release, another process goes on.
 *
 * A statement is one step. A write is answered at once, or given up: it is then in
 * flight, and is executed at any time later, if its token still fits, or never. So
 * a lost answer is a write in flight that is executed next. The answer that nothing
 * was done leaves a write in doubt as no answer does: a driver that repeats a
 * statement may say so of a swap that was done.
 *
 * What a holder stamps between two statements of its own, it stamps right before
 * the second: nobody else reads what that changes, and of two equal ticks the one
 * that comes second is found, whosever it is.
 *
 * .ci/model checks the sizes below, and also WRITES=6 FLIGHTS=1 HORIZON=6.
 * Each of these defines seeds a fault. The check has to find it by the assertion of
 * the property in brackets, which names that property in its line:
 *
 *   NO_FLOOR       (unique) a takeover starts at the clock, not at the row's reserved_until
 *   NO_TOKEN       (unique) an extension is written without comparing the token
 *   ISSUE_FIRST    (covered) ticks are stamped before the write that reserves them is done
 *   WALL_CLOCK     (unique) a beat writes clock + window, though ticks beyond are stamped
 *   SETTLE_BY_NAME (covered) a write in doubt counts as done if the row has been written
 *                  under the holder's name, which all share, whatever its token
 *   SETTLE_BY_LAST (covered) a write in doubt that was done is taken for the last one sent
 *   RELEASE_LATE   (monotone) a holder stamps until its release is answered
 *   RELEASE_LAST   (unique) a release lowers reserved_until to the last tick + 1 even if
 *                  that was stamped under an earlier grant
 *
 * Not in the model: a release while it is in doubt whether the number was acquired,
 * and that a grant keeps the later of two ends, both of which the simulator of
 * internal/protocol has; Insert, and rows that are deleted; other numbers, so a holder
 * that lost this one tries for it again; clones of a process, which the simulator
 * has; sequences within a tick; a database that forgets a commit;
 * skew, and bounds to borrowing; and that anything is ever granted, since only
 * safety is checked.
 */

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

/* What is checked, no part of the lease. */
byte watched = NONE;     /* a tick that was stamped: each is tried */
byte last[HOLDERS];      /* greatest tick that each has stamped, + 1 */
byte committed[HOLDERS]; /* greatest reserved_until that each has committed */

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

/* clock reads the holder's clock, which is behind or ahead of what it stamps next */
inline clock() {
	if
	:: now = 0
	:: now = max(next, from) + 1
	fi
}

/* execute is what the database does with a write. A token never comes back, so what
   is in flight and compares one that is gone will not be done: it is taken out. */
inline execute(who, was, fresh, upTo) {
	done = fits(was);
	if
	:: done ->
		row.token = fresh;
		row.reserved = upTo;
		committed[who] = max(committed[who], upTo);
		for (i : 0 .. FLIGHTS - 1) {
			if
			:: fits(flight[i].old) -> skip
			:: else ->
				flight[i].by = 0;
				flight[i].old = 0;
				flight[i].token = 0;
				flight[i].reserved = 0
			fi
		}
		i = 0
	:: else
	fi
}

/* swap sends a write; done: it was answered that the row was written */
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

/* confirm makes a write known to have been done the holder's own. Nothing else is in
   doubt then: that compares a token which is gone. */
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
	settle()
}

inline settle() {
	do
	:: doubts > 0 -> doubts--; doubt[doubts] = 0
	:: else -> break
	od
}

/* give drops what was held: it is lost or released */
inline give() {
	held = false;
	leaving = false;
	token = 0;
	from = 0;
	until = 0;
	committed[me] = 0;
	settle()
}

/* read reads the row, and tells by its token who wrote it last */
inline read() {
	if
	:: row.token == token /* nobody, since */
	:: else ->
		do
		:: i < doubts && !isDoubt(i) -> i++
		:: else -> break
		od;
		if
		:: i < doubts ->
			confirm(row.token, settledTo)
		:: else -> /* somebody else: the number is lost, or free */
			give();
			token = row.token;
			from = row.reserved
		fi;
		i = 0
	fi
}

/* stamp stamps as many ticks as the holder likes; it may borrow ahead */
inline stamp() {
	do
	:: max(next, from) < until ->
		k = max(next, from);
		do
		:: k + 1 < until -> k++ /* the clock is there */
		:: break
		od;
		assert(k != watched);      /* unique */
		assert(k < committed[me]); /* covered */
		assert(k >= last[me]);     /* monotone */
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
	:: done && leaving -> /* what goes on from here is another process */
#ifdef RELEASE_LATE
		stamp();
#endif
		give();
		next = 0
	:: !done -> doubt[doubts] = tokens; doubts++
	fi;
	reserved = 0;
	done = false
}

/* Holders are alike: whichever is the first to send a write is called 0, the next one
   1. Hence tokens >= me. */
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
	:: atomic { stamp(); read() };
		if
		:: atomic { tokens >= me && tokens < WRITES -> stamp(); write() }
		:: true
		fi
	od
}

/* Network executes what was given up; it may be late, or never come to it */
proctype Network(byte w) {
	byte i;
	bool done;
end:	do
	:: atomic {
		flight[w].token != 0 ->
		execute(flight[w].by, flight[w].old, flight[w].token, flight[w].reserved);
		done = false
	   }
	od
}

init {
	byte i;
	atomic {
		for (i : 0 .. HOLDERS - 1) { run Holder(i) }
		for (i : 0 .. FLIGHTS - 1) { run Network(i) }
	}
}
