/*
 * A model of the ring: takers that claim positions without a lock, the change
 * from run to run under the mutex, a padder that puts runs and drops some.
 * Names follow ring.go. Checked over every interleaving:
 *
 *   unique    no id is dealt twice
 *   ordered   an id is greater than every id dealt by a call that ended before
 *             its own began
 *   complete  when all have ended, each id that was put was dealt or dropped, or
 *             is still in the ring
 *   dropped   what was dropped is never dealt afterwards
 *   closed    no id from the least on that Close dropped is ever dealt
 *
 * Among the runs there is one that continues another, a jump to a later tick, a
 * run that is dropped whole and one that is dropped in part, waiting or while it
 * is dealt; takers find the ring empty at the start, and whenever the padder is
 * late. The last drop is of everything, as Close does it. Takers call Take, which
 * claims at once and compares ids, and TakeRun of one and of two, which look first and
 * compare positions. Positions have 8 bits; the second size below wraps them. A take within
 * RejectedTake is here a call of its own: it begins later, which asks more of the order.
 *
 * make models checks the sizes below, and also TAKERS=3 TAKES=1 START=253.
 * Each of these defines seeds a fault. The check has to find it by the assertion of
 * the property in brackets, which names that property in its line:
 *
 *   POSITION_BACK  (unique) the change of runs sets the position back to the start
 *   NO_END         (complete) a claim is not held against the end of the run
 *   ID_POSITIONS   (complete) ids themselves are dealt as positions
 *   NO_WALK        (complete) a claim that the loaded span does not cover counts as void
 *   DROP_ADD       (complete) Drop adds to the position instead of comparing and swapping
 *   UNLOCKED       (ordered) the change of runs does not take the mutex
 *   CLAIM_FIRST    (unique) a taker claims before it loads the span
 *   CAS_ONCE       (dropped) Drop does not try again when a taker was faster
 *   REST_SPAN      (closed) Close tells of the whole span as dropped, not of what is left
 *
 * Not in the model: that Put refuses runs out of order, and all runs after Close;
 * that one goroutine at a time puts; the signal that the ring is low, which is sent
 * with nothing locked; claims of more than two, and their bound. The tests check these.
 *
 * Atomic operations of Go are sequentially consistent, so a step of the model is
 * one atomic operation, or one critical section as far as the mutex hides it.
 */

#ifndef TAKERS
#define TAKERS 2
#endif
#ifndef TAKES
#define TAKES 2
#endif

#define RUNS 4      /* runs that the padder puts */
#define SLOTS 2     /* runs that fit into the ring */
#define CAPACITY 4  /* ids that fit into the ring */
#define IDS 9       /* ids 0 to 8; 4 is the gap before the jump */
#define NONE 255
#ifndef START
#define START 0     /* the first position */
#endif

typedef Span { byte delta; byte n; byte last; byte next };

Span spans[RUNS + 1];  /* 0 is the empty span of a new ring */
byte position = START;
byte current;
bool locked;
byte queue[SLOTS];     /* indices of spans; the first is queue[0] */
byte queued;           /* how many are in queue */
byte puts;             /* how many spans were put */

/* What is checked, no part of the ring. */
bool dealt[IDS];
byte dropped;
byte put;
byte ended = NONE;     /* greatest id of a call that has ended */
byte rest = NONE;      /* least id that Close dropped */
byte running = TAKERS + 1;

inline lock()   { atomic { !locked -> locked = true } }
inline unlock() { locked = false }

inline deal(from, count) {
	atomic {
		k = 0;
		do
		:: k < (count) ->
			assert((from) + k < IDS);
			assert(!dealt[(from) + k]);                  /* unique */
			assert(begun == NONE || (from) + k > begun); /* ordered */
			dealt[(from) + k] = true;
			k++
		:: else -> break
		od;
		if
		:: ended == NONE || (from) + (count) - 1 > ended -> ended = (from) + (count) - 1
		:: else
		fi;
		k = 0
	}
}

#define end(s)      ((spans[s].last - spans[s].delta) & 255)
#define from(a, b)  (((b) - (a)) & 255)       /* how far position b lies behind a */
#define less(a, b)  (a != b && from(a, b) < 128)
#define id(s)       ((spans[s].delta + at + 1) & 255)
#define usedUp(s)   (!less(position, end(s)))
#define first(s)    (spans[s].last + 1 - spans[s].n)

/* covered: the claim [at, at+want) begins within span s; deals: the same, by ids if Take asks */
#ifdef NO_END
#define covered(s)  (spans[s].n > 0)
#define deals(s)    covered(s)
#define part(s)     (want)
#else
#define covered(s)  less(at, end(s))
#define deals(s)    (looked -> covered(s) : id(s) <= spans[s].last)
#define part(s)     ((want < from(at, end(s))) -> want : from(at, end(s)))
#endif

proctype Taker() {
	byte take, s, at, want, begun, k, got, next;
	bool claimed, looked;
	do
	:: take == TAKES -> break
	:: else ->
		take++;
		begun = ended;
		if
		:: want = 1               /* Take */
		:: want = 2; looked = true /* TakeRun(2) */
		:: want = 1; looked = true /* TakeRun(1) */
		fi;

		/* the fast path: load, claim, compare; TakeRun looks first and does not
		   claim what is not there */
		got = 0;
		claimed = true;
#ifdef CLAIM_FIRST
		atomic { at = position; position = position + want };
		s = current;
#else
		s = current;
		if
		:: looked && usedUp(s) -> claimed = false
		:: else -> atomic { at = position; position = position + want }
		fi;
#endif
		if
		:: claimed && deals(s) -> got = part(s); deal(id(s), got)
		:: else ->
#ifndef UNLOCKED
			lock();
#endif
#ifndef NO_WALK
			/* find: the claim may lie in a span published since */
			do
			:: claimed && spans[s].next != NONE && !less(at, (end(spans[s].next) - spans[spans[s].next].n) & 255) ->
				s = spans[s].next;
				if
				:: covered(s) -> got = part(s); break
				:: else
				fi
			:: else -> break
			od;
#endif
			/* advance */
			if
			:: got == 0 ->
				s = current;
				if
				:: queued == 0 && usedUp(s) /* empty: the call fails */
				:: else ->
					atomic { at = position; position = position + want };
					if
					:: covered(s) -> got = part(s)
					:: !covered(s) && queued > 0 ->
						d_step {
							next = queue[0];
							queue[0] = queue[1];
							queued--;
							spans[s].next = next
						};
#ifdef POSITION_BACK
						position = want;
						at = 0;
#endif
#ifdef ID_POSITIONS
						atomic { at = first(next); position = at + want };
#endif
						spans[next].delta = spans[next].last - at - spans[next].n;
						current = next; /* publishes the span */
						s = next;
						got = part(s)
					:: else /* another claimed the last ids: the call fails */
					fi
				fi
			:: else
			fi;
			if
			:: got > 0 ->
				next = id(s);
				unlock();
				deal(next, got)
			:: else ->
				unlock()
			fi
		fi;
		s = 0; at = 0; want = 0; begun = 0; got = 0; next = 0; looked = false
	od;
	running--
}

#define undealt (less(position, end(current)) -> from(position, end(current)) : 0)
#define waiting (((queued > 0) -> spans[queue[0]].n : 0) + ((queued > 1) -> spans[queue[1]].n : 0))
#define roomFor(size) (queued < SLOTS && size + undealt + waiting <= CAPACITY)

/* putRun waits until the run fits, or until no taker is left to make room. Put
   reads the position once and else only what the mutex guards, so it is one
   step. */
inline putRun(f, size) {
	do
	:: atomic {
		!locked && roomFor(size) ->
		puts++;
		spans[puts].last = f + size - 1;
		spans[puts].n = size;
		spans[puts].next = NONE;
		queue[queued] = puts;
		queued++;
		put = put + size;
		break
	   }
	:: running == 1 -> goto done
	od
}

/* drop removes every id up to and including upTo; least is the first of them */
inline drop(upTo) {
	lock();
	least = NONE;
	s = current;
	if
	:: spans[s].n > 0 && upTo >= first(s) ->
		stop = end(s) - ((upTo < spans[s].last) -> spans[s].last - upTo : 0);
		do
		:: at = position;
			if
			:: !less(at, stop) -> break
#ifdef DROP_ADD
			:: else -> dropped = dropped + from(at, stop); position = position + from(at, stop); break
#else
			:: else ->
				atomic {
					if
					:: position == at ->
						position = stop; dropped = dropped + from(at, stop);
						least = id(s);
						break
#ifdef CAS_ONCE
					:: else -> break
#else
					:: else
#endif
					fi
				}
#endif
			fi
		od
	:: else
	fi;
	do
	:: queued > 0 && first(queue[0]) <= upTo ->
		d_step {
			s = queue[0];
			if
			:: least == NONE -> least = first(s)
			:: else
			fi;
			if
			:: upTo < spans[s].last -> /* in part */
				dropped = dropped + upTo - first(s) + 1;
				spans[s].n = spans[s].last - upTo
			:: else ->
				dropped = dropped + spans[s].n;
				queue[0] = queue[1];
				queued--
			fi
		}
	:: else -> break
	od;
#ifdef REST_SPAN
	if
	:: least != NONE && spans[current].n > 0 && least <= spans[current].last -> least = first(current)
	:: else
	fi;
#endif
	atomic {
		assert(undealt == 0 || spans[current].last + 1 - undealt > upTo); /* dropped */
		if
		:: ended == NONE || upTo > ended -> ended = upTo /* what is dealt later lies above */
		:: else
		fi;
		locked = false
	}
}

proctype Padder() {
	byte s, at, stop, least;
	putRun(0, 2);                        /* 0 1 */
	putRun(2, 2);                        /* 2 3: goes on where that ends */
	putRun(5, 3);                        /* 5 6 7: a later tick */
	if :: drop(3) :: drop(6) :: skip fi; /* whole runs; part of one; none */
	putRun(8, 1);                        /* 8 */
	if :: drop(8); rest = least :: skip fi; /* Close, or none */
done:
	running--
}

init {
	byte i, issued;
	bool complete;
	atomic {
		spans[0].next = NONE;
		spans[0].delta = 256 - START;
		i = 0;
		do
		:: i < TAKERS -> run Taker(); i++
		:: else -> break
		od;
		run Padder()
	}
	running == 0;
	/* complete */
	d_step {
		i = 0;
		do
		:: i < IDS -> issued = issued + dealt[i]; i++
		:: else -> break
		od;
		i = rest;
		do
		:: i < IDS -> assert(!dealt[i]); i++ /* closed */
		:: else -> break
		od;
		complete = (put == issued + dropped + undealt + waiting);
		assert(complete)
	}
}
