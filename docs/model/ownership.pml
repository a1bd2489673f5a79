/* Who may write a match and who may answer for it, when nodes crash, stop and come back: see README.md beside this.
 *
 * Checked by scripts/check-model. Switches take one precaution out; with each of them the model must fail:
 *   NOFENCE      an append is not compared with the match's epoch and length
 *   ACKFIRST     an append is acknowledged when it is sent, not when it is committed
 *   NOREADFENCE  an owner answers reads without looking at its lease
 *   FROMRECEIPT  the lease is counted from when the renewal was answered, not from when it was sent
 *   LOGFIRST     a taker reads the log, then sets the epoch
 *   NOROWLOCK    a taker does not mind a renewal that is being committed
 * REACH asks for the opposite: a run in which two owners get events acknowledged, one after the other, must exist.
 */

#ifndef NODES
#define NODES 2   /* processes that may own the match */
#endif
#ifndef EPOCHS
#define EPOCHS 3  /* incarnations in all; each start of a node is a new one */
#endif
#ifndef TICKS
#define TICKS 6   /* how long the world lasts */
#endif
#define EVENTS 3  /* places in the log */
#define LEASE 3   /* ticks */
#define MARGIN 1  /* a node trusts its lease that much shorter */

#ifdef NOROWLOCK
#define UNLOCKED true
#else
#define UNLOCKED (renewal[matchEpoch] != locked)
#endif
#ifdef NOREADFENCE
#define TRUSTED true
#else
#define TRUSTED (now < trusts)
#endif
#ifdef REACH
#define FRESH skip
#else
#define FRESH assert(knows >= toldLength)
#endif

mtype = { none, sent, locked, granted, refused, committed, lost };

/* Time, as every clock counts it, also while a process is stopped. */
byte now = 0;

/* The database: what is committed. Index 0 is nobody. */
byte leaseUntil[EPOCHS + 1];
byte matchEpoch = 0;
byte length = 0;
byte log[EVENTS];              /* which incarnation's event stands at a place */
byte nextEpoch = 1;

/* What is on the way between an incarnation and the database; outlives a crash of the node. */
mtype renewal[EPOCHS + 1] = none;
byte renewedAt[EPOCHS + 1];    /* when the statement looked at the clock */
mtype append[EPOCHS + 1] = none;
byte place[EPOCHS + 1];        /* where the event on the way shall stand */

/* What players were told: which incarnation's event they saw at a place. */
byte told[EVENTS];
byte toldLength = 0;

/* Whatever a player was told is in the log where he was told it is. */
inline promise() {
  i = 0;
  do
  :: i < EVENTS -> assert(told[i] == 0 || (i < length && log[i] == told[i])); i++
  :: else -> i = 0; break
  od
}

inline tell(at, who) {
  told[at] = who;
  if
  :: toldLength < at + 1 -> toldLength = at + 1
  :: else
  fi;
#ifdef REACH
  assert(!(at > 0 && told[0] > 0 && told[0] != who))
#else
  promise()
#endif
}

/* A node forgets everything; what is on its way stays on its way. */
inline start_over() { me = 0; knows = 0; trusts = 0; owns = 0; taking = 0; waits = 0; asked = 0 }

active [NODES] proctype Node() {
  byte me = 0;      /* its epoch, 0 before it joined */
  byte knows = 0;   /* how much of the log it has in memory */
  byte trusts = 0;  /* until when it believes in its lease */
  byte asked = 0;   /* when it sent the renewal */
  bit owns = 0;
  bit taking = 0;   /* between the two statements of a takeover */
  bit waits = 0;    /* for a commit */
  byte i = 0;

  do
  :: atomic { me == 0 && nextEpoch <= EPOCHS ->           /* join */
       me = nextEpoch; nextEpoch++;
       leaseUntil[me] = now + LEASE; trusts = now + LEASE - MARGIN }

  :: atomic { me > 0 && renewal[me] == none -> asked = now; renewal[me] = sent }
  :: atomic { me > 0 && renewal[me] == granted ->
       renewal[me] = none;
#ifdef FROMRECEIPT
       trusts = now + LEASE - MARGIN
#else
       trusts = asked + LEASE - MARGIN
#endif
     }
  :: atomic { me > 0 && renewal[me] == refused -> start_over() }

     /* Take over: if its own lease is good and the owner's is not. */
#ifdef LOGFIRST
  :: atomic { me > 0 && !owns && !taking -> knows = length; taking = 1 }
  :: atomic { taking && leaseUntil[me] > now && leaseUntil[matchEpoch] <= now && UNLOCKED ->
       matchEpoch = me; taking = 0; owns = 1 }
#else
  :: atomic { me > 0 && !owns && !taking && leaseUntil[me] > now && leaseUntil[matchEpoch] <= now && UNLOCKED ->
       matchEpoch = me; taking = 1 }
  :: atomic { taking -> knows = length; taking = 0; owns = 1 }
#endif

     /* A move: append behind what it knows. */
  :: atomic { owns && !waits && knows < EVENTS ->
       place[me] = knows; append[me] = sent; waits = 1
#ifdef ACKFIRST
       ; tell(knows, me)
#endif
     }
  :: atomic { waits && append[me] == committed ->
       append[me] = none; waits = 0;
#ifndef ACKFIRST
       tell(knows, me);
#endif
       knows++ }
     /* Fenced, or the connection is lost and the outcome unknown: either way it starts over. */
  :: atomic { waits && append[me] == lost -> start_over() }

     /* A read, a flag, a claim that somebody is gone: answered from memory, so memory must have all anybody was told. */
  :: atomic { owns && TRUSTED -> FRESH }

     /* kill -9. (SIGSTOP needs no line: any process may be passed over for as long as the clock ticks.) */
  :: atomic { me > 0 -> start_over() }
  od
}

/* Executes what is on its way, when it likes; each branch is a transaction or one statement of it. */
active proctype Database() {
  byte e = 0;
  byte i = 0;
  do
  :: atomic { select(e : 1 .. EPOCHS) ;
       if
       :: renewal[e] == sent && leaseUntil[e] > now -> renewedAt[e] = now; renewal[e] = locked
       :: renewal[e] == sent && leaseUntil[e] <= now -> renewal[e] = refused
       :: renewal[e] == locked -> leaseUntil[e] = renewedAt[e] + LEASE; renewal[e] = granted
       :: append[e] == sent ->
#ifdef NOFENCE
            log[place[e]] = e; length = place[e] + 1;
            if :: append[e] = committed :: append[e] = lost fi;
#ifndef REACH
            promise()
#endif
#else
            if
            :: matchEpoch == e && length == place[e] ->
                 log[length] = e; length++;
                 if :: append[e] = committed :: append[e] = lost fi  /* done, and the answer may be lost */
            :: else -> append[e] = lost
            fi
#endif
       :: append[e] == sent -> append[e] = lost                      /* the connection or the database fails first */
       :: else
       fi;
       e = 0 }
  od
}

active proctype Clock() {
  do
  :: now < TICKS -> now++
  :: else -> break
  od
}
