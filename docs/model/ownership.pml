/* Who may write a match and who may answer for it, when nodes crash, stop and come back: see README.md beside this.
 *
 * Checked by scripts/check-model. Switches take one precaution out; with each of them the model must fail:
 *   NOFENCE      an append is not compared with the match's epoch and length
 *   ACKFIRST     an append is acknowledged when it is sent, not when it is committed
 *   NOREADFENCE  an owner answers reads without looking at its lease
 *   FROMRECEIPT  the lease is counted from when the renewal was answered, not from when it was sent
 *   LOGFIRST     a taker reads the log, then sets the epoch
 *   NOROWLOCK    a taker does not mind a renewal that is being committed
 *   NOMATCHLOCK  a taker does not mind an append that is being committed
 *   TWOSTATEMENTS  an append grows the match's row and puts the event in as two statements of a transaction; if the session
 *                ends between them, the second is done on a new one, by itself
 * REACH asks for the opposite: a run in which two owners get events acknowledged, one after the other, must exist.
 */

#define NODES 2   /* processes that may own the match */
#define EPOCHS 3  /* incarnations in all; each start of a node is a new one */
#define EVENTS 2  /* places in the log */
#define LEASE 2   /* ticks */
#define MARGIN 1  /* a node trusts its lease that much shorter */

#ifdef NOROWLOCK
#define UNLOCKED true
#else
#define UNLOCKED (renewal[matchEpoch] != locked)
#endif
#ifdef NOMATCHLOCK
#define ROWFREE true
#else
#define ROWFREE (row == 0)
#endif
#ifdef NOREADFENCE
#define TRUSTED true
#else
#define TRUSTED (trust[me] > 0)
#endif
#ifdef REACH
#define FRESH skip
#define PROMISE skip
#else
#define FRESH assert(knows >= toldLength)
#define PROMISE promise()
#endif

#ifdef NOFENCE
#define FENCE(e) true
#else
#define FENCE(e) (matchEpoch == e && length == place[e])
#endif

mtype = { none, sent, locked, granted, refused, held, adrift, committed, lost };

/* The database: what is committed. Index 0 is nobody. */
byte leaseLeft[EPOCHS + 1];    /* ticks until it runs out */
byte matchEpoch = 0;
byte length = 0;
byte row = 0;                  /* whose append holds the match's row locked */
byte log[EVENTS];              /* which incarnation's event stands at a place */
byte nextEpoch = 1;

/* What is on the way between an incarnation and the database; outlives a crash of the node. */
mtype renewal[EPOCHS + 1] = none;
byte asked[EPOCHS + 1];        /* ticks since the node sent it */
byte looked[EPOCHS + 1];       /* ticks since the statement looked at the clock */
mtype append[EPOCHS + 1] = none;
byte place[EPOCHS + 1];        /* where the event on the way shall stand */

/* Whether the node still is this incarnation. */
bit alive[EPOCHS + 1];
/* Ticks that an incarnation still believes in its lease. */
byte trust[EPOCHS + 1];

/* What players were told: which incarnation's event they saw at a place. */
byte told[EVENTS];
byte toldLength = 0;

/* Whatever a player was told is in the log where he was told it is. */
inline promise() {
  assert(told[0] == 0 || (length > 0 && log[0] == told[0]));
  assert(told[1] == 0 || (length > 1 && log[1] == told[1]))
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

/* A node forgets everything; what is on its way stays on its way, and nobody waits for it. */
inline start_over() {
  trust[me] = 0; alive[me] = 0;
  if :: renewal[me] == granted || renewal[me] == refused -> renewal[me] = none; asked[me] = 0 :: else fi;
  if :: append[me] == committed || append[me] == lost -> append[me] = none :: else fi;
  me = 0; knows = 0; owns = 0; taking = 0; waits = 0
}

active [NODES] proctype Node() {
  byte me = 0;      /* its epoch, 0 before it joined */
  byte knows = 0;   /* how much of the log it has in memory */
  bit owns = 0;
  bit taking = 0;   /* between the two statements of a takeover */
  bit waits = 0;    /* for a commit */

  do
     /* Join. The nodes are alike, so it is no loss that the first is the first. */
  :: atomic { me == 0 && nextEpoch <= EPOCHS && (nextEpoch > 1 || _pid == 0) ->
       me = nextEpoch; nextEpoch++; alive[me] = 1;
       leaseLeft[me] = LEASE; trust[me] = LEASE - MARGIN }

     /* Renewals of who owns nothing change nothing. */
  :: atomic { owns && renewal[me] == none -> asked[me] = 0; renewal[me] = sent }
  :: atomic { me > 0 && renewal[me] == granted ->
       renewal[me] = none;
#ifdef FROMRECEIPT
       trust[me] = LEASE - MARGIN;
#else
       trust[me] = (asked[me] < LEASE - MARGIN -> LEASE - MARGIN - asked[me] : 0);
#endif
       asked[me] = 0 }
  :: atomic { me > 0 && renewal[me] == refused -> start_over() }

     /* Take over: if its own lease is good and the owner's is not. */
#ifdef LOGFIRST
  :: atomic { me > 0 && !owns && !taking -> knows = length; taking = 1 }
  :: atomic { taking && leaseLeft[me] > 0 && leaseLeft[matchEpoch] == 0 && UNLOCKED && ROWFREE ->
       matchEpoch = me; taking = 0; owns = 1 }
#else
  :: atomic { me > 0 && !owns && !taking && leaseLeft[me] > 0 && leaseLeft[matchEpoch] == 0 && UNLOCKED && ROWFREE ->
       matchEpoch = me; taking = 1 }
  :: atomic { taking -> knows = length; taking = 0; owns = 1 }
#endif

     /* A move: append behind what it knows. */
  :: atomic { owns && !waits && knows < EVENTS ->
       place[me] = knows; append[me] = sent; waits = 1;
#ifdef ACKFIRST
       tell(knows, me)
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

#ifdef TWOSTATEMENTS
#define BETWEEN(e) \
  :: atomic { append[e] == held -> row = 0; append[e] = adrift } \
  :: atomic { append[e] == adrift && log[place[e]] == 0 -> \
       log[place[e]] = e; place[e] = 0; append[e] = (alive[e] -> committed : none); PROMISE } \
  :: atomic { append[e] == adrift && log[place[e]] != 0 -> place[e] = 0; append[e] = (alive[e] -> lost : none) }
#else
#define BETWEEN(e)
#endif

/* Executes what is on its way, when it likes; each branch is a statement or the commit behind it, with any pause between
   the two. What nobody waits for any more is done all the same, and leaves no answer. */
#define EXECUTE(e) \
  :: atomic { renewal[e] == sent && leaseLeft[e] > 0 -> looked[e] = 0; renewal[e] = locked } \
  :: atomic { renewal[e] == sent && leaseLeft[e] == 0 -> asked[e] = 0; renewal[e] = (alive[e] -> refused : none) } \
  :: atomic { renewal[e] == locked -> \
       leaseLeft[e] = LEASE - looked[e]; looked[e] = 0; renewal[e] = (alive[e] -> granted : none) } \
  :: atomic { append[e] == sent && FENCE(e) && row == 0 -> row = e; append[e] = held } \
  :: atomic { append[e] == held -> \
       log[place[e]] = e; length = place[e] + 1; row = 0; place[e] = 0; \
       append[e] = (alive[e] -> committed : none); PROMISE } \
  :: atomic { append[e] == held -> /* done, and the answer does not arrive */ \
       log[place[e]] = e; length = place[e] + 1; row = 0; place[e] = 0; append[e] = (alive[e] -> lost : none); PROMISE } \
  :: atomic { append[e] == held -> /* the session ends first, and undoes it */ \
       row = 0; place[e] = 0; append[e] = (alive[e] -> lost : none) } \
  :: atomic { append[e] == sent -> /* fenced, or the connection or the database fails first */ \
       place[e] = 0; append[e] = (alive[e] -> lost : none) } \
  BETWEEN(e)

active proctype Database() {
  do
  EXECUTE(1)
  EXECUTE(2)
  EXECUTE(3)
  od
}

/* One tick of time, as every clock counts it, also while a process is stopped. */
inline age(n) {
  if :: leaseLeft[n] > 0 -> leaseLeft[n]-- :: else fi;
  if :: trust[n] > 0 -> trust[n]-- :: else fi;
  if :: renewal[n] != none && renewal[n] != refused && asked[n] < LEASE -> asked[n]++ :: else fi;
  if :: renewal[n] == locked && looked[n] < LEASE -> looked[n]++ :: else fi
}

active proctype Clock() {
  do
  :: d_step { age(1); age(2); age(3) }
  od
}
