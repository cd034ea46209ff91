/*
 * A model of how new numbers are made: an Insert with Fresh and one of an Assigner, and beside them the
 * starts of a Registry, as worker/insert.go and worker/authority.go execute them. Names follow these files.
 * Checked over every interleaving:
 *
 *   owned     no two starts own one number, though its rows are deleted
 *   reported  the number that a start learns is one whose row its own request made
 *
 * Each atomic step is one statement of the database, or one look for a table. Between two of them
 * anything may happen, also to another start of the same kind.
 *
 * The answer of any statement may be lost. Then a Leaser sends another Insert, and nobody owns what the
 * first has made; a Registry inserts another row; an Assigner reads the row, and owns the number if the row
 * is its own. Rows of both tables may be deleted, also of numbers in use, except the Leasers' row of the number
 * that an Assigner chose: a deleted number is there for an Assigner.
 *
 * make models checks the sizes below, and also LEASERS=2 RANGES=0.
 * Each of these defines seeds a fault. The check has to find it by the assertion of the property
 * in brackets, which names that property in its line:
 *
 *   NO_AUTHORITY (owned) a number is counted though the key is the authority
 *   NO_KEPT      (owned) the takeover does not keep the count
 *   NO_NOTE      (owned) a key is not noted in row -1
 *   NO_COVER     (owned) a key is not compared with the counts
 *   COVER_FIRST  (owned) a key is compared before it is noted
 *   LOOK_FIRST   (owned) a Registry looks for the Leasers' table before its key is committed
 *   EARLY        (owned) an Assigner looks whether keys have reached its number, and then makes the row
 *   NO_OTHERS    (owned) a count does not go above those of other ranges
 *   COUNT_LATE   (reported) the count is raised by a statement of its own, after the row is made
 *   REPORT_LAST  (reported) the answer is the last number that anybody made
 *   GUESS        (owned) after a lost answer, a start takes the last number that was made
 *
 * Not in the model:
 *
 *   - what a holder does with a row, which lease.pml has
 *   - a row -1 that is lost: the rows show what was counted, unless they are deleted too
 *   - a range that counts for the first time while a statement of another range with the same numbers waits
 *     for a lock of PostgreSQL, which reads the other counts as of its begin. The statement after it sees the
 *     range, and gives the number up. A lost answer between the two leaves a row that is not given up; it
 *     matters if the number was that range's, and its row was deleted meanwhile
 *   - Registries that note no key: other languages', or of earlier versions
 *   - the end of a range
 */

#ifndef LEASERS
#define LEASERS 1
#endif
#ifndef REGISTRIES
#define REGISTRIES 1
#endif
#ifndef RANGES
#define RANGES 1 /* or 0 */
#endif
#ifndef DELETES
#define DELETES 1
#endif
#ifndef REQUESTS
#define REQUESTS 1 /* of each start */
#endif
#define NUMBERS 10
#define FIRST 0 /* of the range, so that few starts meet */
#define CHOSEN 1 /* the Assigner's number */

#define max(a, b) (((a) > (b)) -> (a) : (b))

/* WORKER_LEASE */
bool leases;          /* the table is there */
byte count;           /* of row -1: the least number that was never counted, or above the keys noted */
bool keyed;           /* of row -1: the key is the authority */
byte kept;            /* of row -1: the count at the takeover */
byte ranged;          /* the range's count; 0 is none */
byte chosen;          /* the Assigner's count; 0 is none */
bool row[NUMBERS];
/* WORKER_NODE */
bool nodes;
byte key;             /* from 0, so that few starts meet */
bool node[NUMBERS];

/* For the checks. */
byte maker[NUMBERS];  /* the start whose statement made the row, + 1 */
bool owner[NUMBERS];
byte last;            /* the last number made, + 1 */

inline own(n) {
	assert(!owner[n]); /* owned */
	owner[n] = true
}

inline make(n) {
	row[n] = true;
	maker[n] = me + 1;
	last = n + 1
}

/* above is the count that covers key k, 0 for none */
#define covered(k) max((kept > (k) -> kept : 0), max((ranged > (k) -> ranged : 0), (CHOSEN <= (k) && chosen > (k) -> chosen : 0)))

inline takeOver() {
	atomic {
		if
		:: !keyed ->
			keyed = true;
#ifndef NO_KEPT
			kept = count
#endif
		:: else
		fi
	};
	atomic { key = max(key, max(count, max(ranged, chosen))) }
}

/* admit notes key k and sets ok if it may be used */
inline admit(k) {
	ok = false;
	do
	:: true ->
#ifdef COVER_FIRST
		above = covered(k);
#endif
		atomic {
#ifdef NO_NOTE
			skip
#else
			if
			:: keyed && count <= k -> count = k + 1
			:: else
			fi
#endif
		};
		atomic {
			marked = keyed;
#ifdef NO_NOTE
			noted = true;
#else
			noted = count > k;
#endif
#ifndef COVER_FIRST
			above = covered(k);
#endif
#ifdef NO_COVER
			above = 0;
#endif
			taken = row[k]
		};
		if
		:: !marked -> takeOver()
		:: marked && !noted /* the takeover came between the two */
		:: marked && noted && above > k -> atomic { key = max(key, above); above = 0; break }
		:: else -> ok = !taken; break
		fi
	od;
	atomic { marked = false; noted = false; above = 0; taken = false }
}

/* draw commits a row of WORKER_NODE */
inline draw() {
	atomic {
		number = key;
		node[number] = true;
		key++
	}
}

proctype Registry(byte me) {
	byte requests, number, above;
	bool ok, marked, noted, taken, there;
	nodes = true;
	do
	:: requests < REQUESTS ->
		requests++;
#ifdef LOOK_FIRST
		there = leases;
#endif
		draw();
#ifndef LOOK_FIRST
		there = leases;
#endif
		if
		:: !there -> ok = true
		:: there -> admit(number)
		fi;
		atomic {
			there = false;
			if
			:: ok -> own(number); break
			:: true -> ok = false /* no answer, or discarded */
			fi
		}
	:: requests == REQUESTS -> break
	od
}

/* prepare makes the Leasers' table and then looks for the Registry's */
inline prepare() {
	leases = true;
	if
	:: atomic { nodes && !keyed -> skip }; takeOver()
	:: atomic { else -> skip }
	fi
}

/* counted is the statement of Store.count for a new number; made is the number + 1, 0 for none */
inline counted(mine, first) {
	atomic {
		made = 0;
		number = max(mine, first);
#ifndef NO_OTHERS
		number = max(number, max(count, max(ranged, chosen)));
#endif
		if
		:: row[number]
		:: else -> make(number); made = number + 1
		fi;
#ifndef COUNT_LATE
		mine = number + 1
#endif
	};
#ifdef COUNT_LATE
	mine = max(mine, number + 1)
#endif
}

/* answer ends a request of a Leaser */
inline answer() {
	atomic {
#ifdef REPORT_LAST
		made = last;
#endif
		number = 0;
		if
		:: made > 0 ->
			assert(maker[made - 1] == me + 1); /* reported */
			own(made - 1);
			break
		:: true -> /* no answer */
#ifdef GUESS
			if
			:: last > 0 -> own(last - 1); break
			:: else
			fi;
#endif
			made = 0
		fi
	}
}

proctype Leaser(byte me) {
	byte requests, number, made, above;
	bool ok, marked, noted, taken;
	prepare();
	do
	:: requests < REQUESTS ->
		requests++;
		if
#ifdef NO_AUTHORITY
		:: atomic { true -> skip }; counted(count, 0)
#else
		:: atomic {
			!keyed ->
			made = 0;
			number = count;
#ifndef NO_OTHERS
			number = max(number, max(ranged, chosen));
#endif
			if
			:: row[number]
			:: else -> make(number); made = number + 1
			fi;
#ifndef COUNT_LATE
			count = number + 1
#endif
		   };
#ifdef COUNT_LATE
			count = max(count, number + 1)
#endif
		:: atomic { keyed -> skip };
			draw();
			admit(number);
			atomic {
				if
				:: ok && !row[number] -> make(number); made = number + 1
				:: else
				fi;
				ok = false
			}
#endif
		fi;
		answer()
	:: requests == REQUESTS -> break
	od
}

/* reachable ends a start whose numbers, from least on, the keys have reached */
inline reachable(least) {
	if
	:: atomic { keyed && count == kept -> skip }; draw(); admit(number) /* so that a key is noted */
	:: atomic { else -> skip }
	fi;
	atomic {
		ok = true;
		number = least;
		do
		:: number < NUMBERS -> ok = ok && !(keyed && node[number]); number++
		:: else -> break
		od;
		number = 0
	}
}

proctype Range(byte me) {
	byte requests, number, made, above;
	bool ok, marked, noted, taken;
	prepare();
	do
	:: requests < REQUESTS ->
		requests++;
		reachable(FIRST);
		if
		:: !ok -> break
		:: else
		fi;
		atomic { ok = false };
		if
		:: atomic { keyed && count > FIRST -> break }
		:: atomic { !(keyed && count > FIRST) ->
			made = 0;
			number = max(ranged, FIRST);
#ifndef NO_OTHERS
			number = max(number, max(count, chosen));
#endif
			if
			:: row[number]
			:: else -> make(number); made = number + 1
			fi;
			ranged = number + 1
		   }
		fi;
		answer()
	:: requests == REQUESTS -> break
	od
}

proctype Assigner(byte me) {
	byte number, above;
	bool ok, marked, noted, taken;
	prepare();
	reachable(CHOSEN);
	if
	:: !ok
	:: else ->
#ifdef EARLY
		atomic { ok = !(keyed && count > CHOSEN) };
#endif
		atomic {
#ifndef EARLY
			ok = !(keyed && count > CHOSEN);
#endif
			if
			:: ok && !row[CHOSEN] -> make(CHOSEN); chosen = max(chosen, CHOSEN + 1)
			:: else
			fi
		};
		/* whether or not there was an answer: a read shows the same */
		atomic {
			if
			:: row[CHOSEN] && maker[CHOSEN] == me + 1 -> own(CHOSEN)
			:: else
			fi
		}
	fi
}

/* Deleter deletes rows behind the store's back, also of numbers in use */
proctype Deleter() {
	byte n, deleted;
	do
	:: atomic {
		deleted < DELETES ->
		select (n : 0 .. 4);
		if
		:: n != CHOSEN -> row[n] = false
		:: node[n] = false
		fi;
		deleted++
	   }
	:: break
	od
}

init {
	byte i;
	atomic {
		for (i : 1 .. LEASERS) { run Leaser(i) }
		for (i : 1 .. REGISTRIES) { run Registry(10 + i) }
#if RANGES
		run Range(20);
#endif
		run Assigner(30);
		run Deleter()
	}
}
