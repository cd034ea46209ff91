/*
 * A model of how new numbers are made: an Insert with Fresh, as worker/insert.go executes it and
 * package lease demands it of every store. Names follow that file: allot, counts and chosen mean
 * the same there. Checked over every interleaving:
 *
 *   once      no number is made as new that was given before
 *   reported  the number that a start learns is one whose row its own request made
 *   owned     no two starts own one number
 *
 * An Insert is a transaction of two steps. Allot locks the count and reads: the count, those of
 * other ranges, and the greatest row. Then the row is made and all is committed, or all is rolled
 * back. A start that waits for the lock waits for the end of the other's transaction. Whatever
 * happens between the two steps of one start may happen to another.
 *
 * The answer may be lost: then the start sends another Insert, and nobody owns what the first has
 * made. A request may be executed twice, as by a driver that repeats it: the answer is that of
 * either. A number may be chosen, by an Assigner, whose range has a count of its own. A row may be
 * deleted, except of a number chosen between the two steps: that is not promised.
 *
 * .ci/model checks the sizes below, and also STARTS=3 REQUESTS=1 DELETES=1.
 * Each of these defines seeds a fault. The check has to find it by the assertion of the property
 * in brackets, which names that property in its line:
 *
 *   NO_LOCK     (once) allot does not wait for the transaction that has the lock
 *   NO_COUNT    (once) the new number is that above the greatest row
 *   NO_OTHERS   (once) allot does not read the counts of other ranges
 *   COUNT_LATE  (once) the count is raised by a transaction of its own, after the row is made
 *   REPORT_LAST (reported) the answer is the last number that anybody made
 *   GUESS       (owned) after a lost answer, a start takes the last number that was made
 *
 * Not in the model:
 *
 *   - what a holder does with a row, which lease.pml has
 *   - a count that went back: rows show what was given, unless they are deleted too
 *   - the end of the range
 */

#ifndef STARTS
#define STARTS 2
#endif
#ifndef REQUESTS
#define REQUESTS 2 /* that each start sends */
#endif
#ifndef DELETES
#define DELETES 2
#endif
#define NUMBERS (STARTS * (REQUESTS + 1) + 4)
#define NONE 255

byte count;           /* the least number never given, as committed */
byte others;          /* the same of the Assigner's range */
bool locked;
bool row[NUMBERS];
byte last;            /* the last number made, + 1 */

/* For the checks. */
bool given[NUMBERS];
byte maker[NUMBERS];  /* the start whose request made the row, + 1 */
bool owner[NUMBERS];

#define max(a, b) (((a) > (b)) -> (a) : (b))

/* allot takes the lock and reads; number is the one to make */
inline allot() {
	atomic {
#ifndef NO_LOCK
		!locked;
#endif
		locked = true;
		number = 0;
		for (i : 0 .. NUMBERS - 1) {
			number = (row[i] -> i + 1 : number)
		}
		i = 0;
#ifndef NO_COUNT
		number = max(number, count);
#endif
#ifndef NO_OTHERS
		number = max(number, others)
#endif
	}
}

/* insert is one execution of an Insert. Of the number it made, made is 1 above. */
inline insert() {
	made = 0;
	do
	:: allot();
		atomic {
			if
			:: row[number] -> locked = false /* chosen meanwhile: again */
			:: !row[number] ->
				assert(!given[number]); /* once */
				given[number] = true;
				row[number] = true;
				maker[number] = me + 1;
				made = number + 1;
				last = made;
#ifndef COUNT_LATE
				count = max(count, number + 1);
#endif
				locked = false;
				number = 0;
				break
			:: locked = false; number = 0; break /* rolled back: an error */
			fi
		}
	od;
#ifdef COUNT_LATE
	count = max(count, made)
#endif
}

proctype Start(byte me) {
	byte requests, number, made, before, i;
	do
	:: requests < REQUESTS ->
		requests++;
		insert();
		if
		:: requests == 1 && made > 0 -> before = made; insert() /* executed twice */
		:: true
		fi;
		atomic {
			if
			:: before > 0 && made > 0 -> made = before /* the answer of the first */
			:: true
			fi;
#ifdef REPORT_LAST
			made = last;
#endif
			if
			:: made > 0 ->
				assert(maker[made - 1] == me + 1); /* reported */
				assert(!owner[made - 1]); /* owned */
				owner[made - 1] = true;
				break
			:: true -> /* no answer, or an error */
#ifdef GUESS
				if
				:: last > 0 ->
					assert(!owner[last - 1]); /* owned */
					owner[last - 1] = true;
					break
				:: else
				fi;
#endif
				made = 0;
				before = 0
			fi
		}
	:: requests == REQUESTS -> break
	od
}

/* Assigner chooses a number that has no row */
proctype Assigner() {
	byte n;
	atomic {
		select (n : 1 .. 3);
		if
		:: !row[n] -> row[n] = true; given[n] = true; others = n + 1
		:: else
		fi
	}
}

/* Deleter deletes rows behind the store's back, also of numbers in use */
proctype Deleter() {
	byte n, deleted;
	do
	:: atomic {
		deleted < DELETES && !(others > 0 && locked) ->
		select (n : 0 .. 3);
		row[n] = false;
		deleted++
	   }
	:: break
	od
}

init {
	byte i;
	atomic {
		for (i : 0 .. STARTS - 1) { run Start(i) }
		run Assigner();
		run Deleter()
	}
}
