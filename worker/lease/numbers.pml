/*
 * A model of how starts get numbers from one database: Registries and Leasers, which draw keys of WORKER_NODE; ranges
 * and Assigners, which choose numbers in WORKER_LEASE; and a Registry in another language, which reads nothing. Names
 * follow draw.go, record.go, registry.go and count.go of package worker. Checked over every interleaving of any
 * STARTS of them, with any layouts:
 *
 *   owned     no two starts own one number
 *   agreed    all starts that own numbers have one layout, and all draw them, or all choose them
 *   reported  the number that a start learns is that of a row which its own request made
 *   gone      a start that finds a lease and no record knows that the record was lost
 *
 * Each atomic step is one statement of the database. Between two of them anything may happen. A start may stop for any
 * time, or for ever. The answer of a statement that takes a number may be lost. Then nobody owns what it made, and
 * the start takes another. A Leaser makes the rows of a key one after the other, as on MySQL. A lease row may expire at
 * any time, and be taken over; lease.pml has what follows. Rows of both tables may be deleted, also of numbers in use,
 * except the lease row of the number that an Assigner chose: a deleted number is there for an Assigner. The record may
 * be deleted, or changed by an operator. WORKER_NODE may be truncated, with the record, and its counter begins anew.
 * Then a start makes a record, or an operator does, with any layout, and of either kind.
 *
 * What no row shows is not promised. So these are not compared:
 *
 *   - by owned: two starts, if the first one's row of WORKER_NODE alone showed its number when that was truncated, or a
 *     row that showed it was deleted, and then the table was truncated or the record lost or changed; and another
 *     language's Registry with a Leaser that holds the number when it draws
 *   - by agreed: two starts, if after the first one's last look at the record an operator changed it; or it was lost,
 *     and made again while there was no lease
 *   - by agreed: other languages' Registries, and Assign where it found no record; and the layout of Assign: it has none
 *
 * make models checks the sizes below, and also STARTS=3 TRIES=1 LOSSES=0.
 * Each of these defines seeds a fault. The check has to find it by the assertion of the property
 * in brackets, which names that property in its line:
 *
 *   NAMED_KEY      (owned) a Leaser draws no key, but makes the lease row of the number above the greatest key
 *   NO_GUARD       (owned) a Leaser uses a key whose lease row exists
 *   REGISTRY_BLIND (owned) a Registry does not look for the lease row of its key
 *   LOOK_EARLY     (owned) a Registry looks for the lease row of the next key, and then draws it
 *   KEY_BLIND      (owned) a Leaser makes a lease row though another start has drawn the key by then
 *   FOREIGN_ROW    (owned) a lease row whose key another program has drawn is taken over
 *   ADOPT          (owned) after a lost answer, a start takes the last key that was drawn
 *   RECORD_LATE    (gone) the record is made after the first number
 *   READ_ONCE      (gone) a start that finds a lease does not read the record again
 *   NO_REREAD      (agreed) the record is not read again before the number is used
 *   NO_FIRST       (agreed) a start that finds no record makes one, whatever leases there are
 *   FIRST_APART    (agreed) the statement that makes the record does not look for leases itself
 *   TWO_RECORDS    (agreed) the record is written over one that was made meanwhile
 *   FOREIGN_FIRST  (owned) a start that chooses looks for keys before it has taken its number
 *   FOREIGN_ROWS   (owned) it looks for rows only, not at the counter
 *   NO_OTHERS      (owned) a count does not go above those of other ranges
 *   COUNT_LATE     (owned) the count is raised by a statement of its own, after the row is made
 *   REPORT_LAST    (reported) the answer is the last number that anybody made
 *   GUESS          (owned) after a lost answer, a range takes the last number that was counted
 *
 * Not in the model:
 *
 *   - a record that is lost or changed a second time
 *   - foreign Registries that join a database once it is divided
 *   - Leasers that state no layout, and a layout's successor
 *   - what a holder does with a row, which lease.pml has
 *   - a range that counts for the first time while a statement of another range waits for a lock of PostgreSQL; a count
 *     that is lost; the end of a range
 */

#ifndef STARTS
#define STARTS 2
#endif
#ifndef TRIES
#define TRIES 2 /* of each start */
#endif
#ifndef LOSSES
#define LOSSES 1 /* of the record, which is deleted, changed or truncated */
#endif
#define NUMBERS 8
#ifdef FIRST_APART
#define APART true
#else
#define APART false
#endif

/* Kinds of starts */
#define FOREIGN 0  /* a Registry in another language */
#define REGISTRY 1
#define LEASER 2
#define LOW 3      /* a range from 1 */
#define HIGH 4     /* a range from 2 */
#define ASSIGNER 5 /* of number 1 */
#define chooses(k) ((k) >= LOW)
#define FROM (kind == HIGH -> 2 : 1)
#define ANY 2 /* the layout of Assign */

/* WORKER_NODE */
byte key = 1;         /* the next one */
byte node[NUMBERS];   /* 0 is no row, 1 a Leaser's; others are a start's, + 2 */
bool record;
bit layout;           /* of the record, or of the one that is lost */
bit divided;
/* WORKER_LEASE */
byte row[NUMBERS];    /* 0 is no row, 1 a free one; others are a start's, + 2 */
byte count[3];        /* of the ranges from 1 and from 2; 0 is no row */

/* For the checks */
byte kinds[STARTS];
byte layouts[STARTS];
byte owner[NUMBERS];  /* + 1 */
bool used[STARTS];    /* the start owns a number */
bool lost[STARTS];    /* and another has taken over its row */
byte eras[STARTS];    /* of the record that the start agrees with, + 1; 0 is none */
byte era;             /* of the record */
bool missing;         /* the record is lost */
bool forgotten;       /* the record was lost or changed at some time */
bool wasDivided;      /* the record was divided at some time */
byte back;            /* keys below it are older than the truncation */
bool gone[NUMBERS];   /* a row that showed who owns the number was deleted */
#define max(a, b) (((a) > (b)) -> (a) : (b))
#define leases (count[1] || count[2] || row[1] || row[2] || row[3] || row[4] || row[5] || row[6] || row[7])
#define rows (node[1] && kind != HIGH || kind != ASSIGNER && (node[2] || node[3] || node[4] || node[5] || node[6] || node[7]))
#ifdef FOREIGN_ROWS
#define keys rows
#else
#define keys (key > FROM || rows)
#endif
#define agrees (record && divided == chooses(kind) && (mine == layout || mine == ANY))
#ifdef FOREIGN_ROW
#define unleased(n) true
#else
#define unleased(n) (node[n] < 2)
#endif
#define TRY (number == 0 && tries < TRIES)
#define free(n) (row[n] && unleased(n) && (kind == LEASER || kind == LOW || kind == HIGH && (n) > 1 || kind == ASSIGNER && (n) == 1))

inline own(n) {
	assert(lost[me] || owner[n] == 0 || gone[n] && (n < back || forgotten)); /* owned */
	owner[n] = (lost[me] -> owner[n] : me + 1);
	used[me] = true;
	for (i : 0 .. STARTS - 1) {
		assert(i == me || !used[i] || eras[me] == 0 || eras[i] != eras[me] || chooses(kinds[i]) == chooses(kind) &&
		(layouts[i] == mine || layouts[i] == ANY || mine == ANY)) /* agreed */
	}
	goto stop
}

/* write makes or changes the record. If another one is allowed, that begins an era */
inline write(l, d, allowed) {
	era = ((allowed) && (l != layout || d != divided) -> era + 1 : era);
	record = true;
	missing = false;
	layout = l;
	divided = d;
	wasDivided = wasDivided || divided
}

inline insertRecord() {
	atomic {
		if
		:: mine == ANY /* makes none */
#ifndef TWO_RECORDS
		:: record
#endif
#if !defined(NO_FIRST) && !defined(RECORD_LATE)
		:: !record && leases && !APART
#endif
		:: else -> write(mine, chooses(kind), missing && !leases)
		fi;
		blank = false
	}
}

/* settle makes the record, or agrees with it */
inline settle() {
	do
	:: atomic { record && agrees -> eras[me] = era + 1; break }
	:: atomic { record && !agrees -> goto stop }
#ifdef NO_FIRST
	:: atomic { !record -> blank = !leases };
#else
	:: !record;
		atomic { blank = !leases; seen = leases || chooses(kind) && key > 1 }; /* first */
#endif
		if
		:: atomic { seen ->
			seen = false;
			if
#ifndef READ_ONCE
			:: record -> blank = false
#endif
			:: else ->
				assert(blank || forgotten); /* gone */
				goto stop
			fi
		   }
#ifdef RECORD_LATE
		:: atomic { !seen -> break }
#else
		:: atomic { !seen && mine == ANY -> blank = false; break }
		:: atomic { !seen && mine != ANY -> skip }; insertRecord()
#endif
		fi
	od
}

inline giveBack() { row[number] = (row[number] == me + 2 -> 1 : row[number]) }

/* foreign looks for keys that another program has drawn */
inline foreign() {
	if
	:: atomic { chooses(kind) && keys -> giveBack(); goto stop }
	:: atomic { !chooses(kind) || !keys -> skip }
	fi
}

/* take notes under which record a number is taken */
inline take() { eras[me] = (eras[me] > 0 -> era + 1 : 0) }

inline draw() {
	number = key;
#ifdef NAMED_KEY
	if :: kind != LEASER -> node[number] = me + 2; key++ :: else fi;
#else
	node[number] = (kind == LEASER -> 1 : me + 2);
	key++;
#endif
	take()
}

/* answer may be lost, and then what was made is nobody's */
inline answer() {
	if
	:: true
	:: true -> giveBack(); number = 0
	fi
}

/* swap takes over a row that is free or has expired */
inline swap(n) {
	tries++;
	if
	:: row[n] > 1 -> lost[row[n] - 2] = true; owner[n] = (owner[n] == row[n] - 1 -> 0 : owner[n])
	:: else
	fi;
	number = n;
	row[n] = me + 2;
	take();
	answer()
}

proctype Start(byte me; byte kind; byte mine /* its layout */) {
	byte tries, number, i;
	bool blank, seen;
	if
	:: atomic { kind == FOREIGN && wasDivided -> goto stop }
	:: atomic { kind == FOREIGN && !wasDivided ->
		draw();
		gone[number] = gone[number] || row[number] > 1;
		own(number)
	   }
	:: atomic { kind != FOREIGN -> skip }
	fi;
begin:
	settle();
#ifdef FOREIGN_FIRST
	foreign();
#endif
again:
	do
	:: atomic { number == 0 && tries == TRIES -> goto stop }
	:: atomic { number > 0 -> break }
	:: atomic { TRY && free(1) -> swap(1) } /* a lease row */
	:: atomic { TRY && free(2) -> swap(2) }
	:: atomic { TRY && free(3) -> swap(3) }
	:: atomic { TRY && (kind == REGISTRY || kind == LEASER) -> /* a key */
		tries++;
#ifdef LOOK_EARLY
		seen = kind == REGISTRY && row[key] > 0
	   };
		atomic {
#endif
		draw();
		answer()
	   };
#ifdef ADOPT
		atomic { number = (number == 0 -> key - 1 : number) };
#endif
		if
		:: atomic { kind == REGISTRY && number == 0 -> goto begin }
		:: atomic { kind == REGISTRY && number > 0 -> break }
		:: atomic { kind == LEASER && number == 0 -> skip }
#ifndef KEY_BLIND
		:: atomic { kind == LEASER && number > 0 && row[number] == 0 && node[number] > 1 -> number = 0 }
		:: atomic { kind == LEASER && number > 0 && row[number] == 0 && node[number] < 2 ->
#else
		:: atomic { kind == LEASER && number > 0 && row[number] == 0 ->
#endif
			row[number] = me + 2; take(); answer()
		   }
#ifdef NO_GUARD
		:: atomic { kind == LEASER && number > 0 && row[number] > 0 -> break }
#else
		:: atomic { kind == LEASER && number > 0 && row[number] > 0 -> number = 0 }
#endif
		fi
	:: atomic { TRY && chooses(kind) -> /* a number of a range */
		tries++;
		number = max(count[FROM], FROM);
#ifndef NO_OTHERS
		number = max(number, max(count[1], count[2]));
#endif
		number = (kind == ASSIGNER -> 1 : number);
		row[number] = (row[number] == 0 -> me + 2 : row[number]);
		take();
#ifndef COUNT_LATE
		count[FROM] = max(count[FROM], number + 1);
#endif
		answer()
	   };
		atomic { /* looks for the row by its token */
#ifdef REPORT_LAST
			number = max(count[1], count[2]) - 1;
#else
			number = (row[number] == me + 2 -> number : 0);
#endif
			assert(number == 0 || row[number] == me + 2); /* reported */
#ifdef GUESS
			number = (number == 0 -> max(count[1], count[2]) - 1 : number)
#endif
		}
#ifdef COUNT_LATE
		;
		atomic { count[FROM] = max(count[FROM], number + 1) }
#endif
	od;
#ifdef RECORD_LATE
	insertRecord();
#endif
	atomic { /* reads the record again, and a Registry reads its row */
		if
#ifdef NO_REREAD
		:: true
#else
		:: agrees && (kind != REGISTRY || node[number] == me + 2) -> eras[me] = era + 1
		:: !record && mine == ANY && node[number] == me + 2 -> eras[me] = 0
#endif
		:: else -> giveBack(); goto stop
		fi;
		if
#ifndef REGISTRY_BLIND
		:: kind == REGISTRY
#endif
#ifndef FOREIGN_FIRST
		:: chooses(kind)
#endif
		:: else -> own(number)
		fi
	};
	foreign();
	atomic {
#ifndef LOOK_EARLY
		seen = kind == REGISTRY && row[number] > 0;
#endif
		if
		:: seen -> seen = false; number = 0; goto again
		:: else -> own(number)
		fi
	};
stop:
	atomic { number = 0; tries = 0; i = 0; blank = false; seen = false; eras[me] = (used[me] -> eras[me] : 0) }
}

inline deleteNode(n) { deleted = true; gone[n] = gone[n] || node[n] > 1 || row[n] == 0; node[n] = 0 }
inline deleteRow(n) { deleted = true; gone[n] = true; row[n] = 0 }

/* Outside does what starts do not do */
proctype Outside() {
	byte losses, n;
	bool deleted, made;
end:
	do
	:: atomic { !deleted && node[1] -> deleteNode(1) }
	:: atomic { !deleted && node[2] -> deleteNode(2) }
	:: atomic { !deleted && row[1] && kinds[STARTS - 1] != ASSIGNER -> deleteRow(1) }
	:: atomic { !deleted && row[2] -> deleteRow(2) }
	:: atomic { losses < LOSSES && record -> losses++; record = false; missing = true; forgotten = true }
	/* an operator changes the record, or makes it again */
	:: atomic { losses < LOSSES && record -> losses++; forgotten = true; write(1 - layout, divided, true) }
	:: atomic { losses < LOSSES && record -> losses++; forgotten = true; write(layout, 1 - divided, true) }
	:: atomic { missing && !made -> made = true; write(layout, divided, true) }
	:: atomic { missing && !made -> made = true; write(1 - layout, divided, true) }
	:: atomic { missing && !made -> made = true; write(layout, 1 - divided, true) }
	/* WORKER_NODE is truncated */
	:: atomic { losses < LOSSES && back == 0 && key > 1 ->
		losses++;
		for (n : 1 .. NUMBERS - 1) { gone[n] = gone[n] || node[n] > 1; node[n] = 0 }
		n = 0; back = key;
		key = 1;
		missing = missing || record; forgotten = forgotten || record; record = false
	   }
	od
}

init {
	byte n, k, l;
	atomic {
		for (n : 0 .. STARTS - 1) {
			do :: k < ASSIGNER -> k++ :: break od; /* in the order of kinds, since that of starts is any */
			kinds[n] = k;
			if
			:: l = 0
			:: n > 0 && kinds[n - 1] != FOREIGN && chooses(k) == chooses(kinds[n - 1]) -> l = 1
			:: k == REGISTRY -> l = ANY
			fi;
			layouts[n] = l
		}
		for (n : 0 .. STARTS - 1) { run Start(n, kinds[n], layouts[n]) }
		n = 0; k = 0; l = 0;
		run Outside()
	}
}
