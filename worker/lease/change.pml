/*
 * A model of a change of the layout, which change.go argues. Starts of the old layout take the next number of a
 * counter, and read the record again before they use it. Changes, which an operator may start and stop at any
 * time, read which numbers were given, and record the new layout with those above; one that finds the mark of
 * another may also lead back to the old layout. Checked over every interleaving:
 *
 *   safe   no number is used under the old layout that the record of the new one allows
 *
 * Each atomic step is one request to the store. Between two of them, a process may stop for any time, or for ever.
 *
 * make models checks the sizes below, and also STARTS=3 CHANGES=2.
 * Each of these defines seeds a fault. The check has to find it by the assertion of the property
 * in brackets, which names that property in its line:
 *
 *   NO_MARK    (safe) the numbers given are read, and the new layout is recorded, without a mark
 *   READ_FIRST (safe) the numbers given are read before the mark is set
 *   NO_TOKEN   (safe) a change replaces the mark of another
 *   NO_REREAD  (safe) a start does not read the record again before it uses its number
 *   IGNORED    (safe) a start does not look for a mark
 *
 * Not in the model: which of the numbers above are safe, which bits.Succession says and tests compare; how a number
 * is taken, which numbers.pml has; and a lost answer, which is a change that stops and one that follows.
 */

#ifndef STARTS
#define STARTS 2
#endif
#ifndef CHANGES
#define CHANGES 3
#endif

bool changed;   /* the record has the new layout */
byte from;      /* and numbers from this on */
byte mark;      /* the token of a change; 0 is none */
byte next = 1;  /* number */
byte used;      /* the greatest number that is used under the old layout */

#ifdef IGNORED
#define agrees (!changed)
#else
#define agrees (!changed && mark == 0)
#endif

#ifdef NO_TOKEN
#define owned (!changed && mark > 0)
#else
#ifdef NO_MARK
#define owned (!changed)
#else
#define owned (!changed && mark == token)
#endif
#endif

proctype Start() {
	byte number;
	if
	:: atomic { agrees -> skip }
	:: atomic { !(agrees) -> goto stop }
	fi;
	atomic { number = next; next++ };
	atomic { /* reads the record again */
		if
#ifdef NO_REREAD
		:: true
#else
		:: agrees
#endif
		:: else -> goto stop
		fi;
		used = (number > used -> number : used);
		assert(!changed || used < from) /* safe */
	};
stop:
	skip
}

proctype Change(byte token) {
	byte given, seen;
again:
	atomic { seen = mark };
#ifdef READ_FIRST
	atomic { given = next - 1 };
#endif
#ifndef NO_MARK
	atomic {
		if
		:: changed -> goto stop
		:: !changed && mark == seen -> mark = token
		:: else -> goto again
		fi
	};
#endif
#ifndef READ_FIRST
	atomic { given = next - 1 };
#endif
	atomic {
		if
		:: owned ->
			changed = true;
			from = given + 1;
			mark = 0;
			assert(used < from) /* safe */
		:: owned && seen > 0 -> mark = 0 /* back to the old layout */
		:: else
		fi
	};
stop:
	skip
}

init {
	byte n;
	atomic {
		for (n : 1 .. CHANGES) { run Change(n) };
		for (n : 1 .. STARTS) { run Start() };
		n = 0
	}
}
