/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a datagram of the udp transport says.  Pure functions over bytes: no
 * socket, no MPI, no state.
 *
 * A datagram is a head of 48 bytes and a body.  All integers are in the
 * machine's own order, as the notices inside are: a job runs on machines of
 * one kind.
 *
 *   0  MAC   a keyed hash of all that follows, or the session's word
 *   8  op     one of Mocha's sixteen; the top bit asks for an acknowledgement
 *   9  kind   of the operation, below
 *  10  slot   of the client that asked
 *  12  from, to       ranks
 *  20  turn   how often the request was sent before; a reply repeats it
 *  24  seq    of the request, 64 bits; a reply repeats it
 *  32  at (64 bits), len, pos: what they mean is said below
 */
#ifndef HEARTHI_TRANSPORT_UDP_WIRE_H
#define HEARTHI_TRANSPORT_UDP_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Mocha's Figure 1.  Requests: what they carry -> what answers them.
 *
 * NULL      answers what has nothing to say but "done", and acknowledges
 * EXIT      a rank tells its own service thread to end
 * GETP      at: offset in the home's segment, len: bytes, pos: bytes of a
 *           fragment; body: the set of fragments wanted -> GETPGRANT, for
 *           each a datagram with at: its offset from GETP's, pos as asked
 * DIFF      pos: number of pieces in the body, runs and patches (patch.h)
 *           -> DIFFGRANT, len: what the home can take (flow_control.c)
 *           ADD, SWAP, CAS: one atomic step; at: offset, len: bytes of the
 *           word, body: two words of 64 bits, the value and what is expected
 *           -> DIFFGRANT with the value before, 64 bits
 *           ADDS: many adds; body: those (atomic_op.h) -> DIFFGRANT
 * BARR      pos: the barrier's number, body: notices -> BARRGRANT, len: how
 *           many notices the barrier brought, body: the first of them; inside
 *           a node both say only how many there are, BARR in len, too
 * ACQ       len: the lock, pos: log read so far, at: epoch -> ACQGRANT, len:
 *           notices that are news, pos: end of the log, body: the first
 *           of a reader-writer lock: to read, or WRITE
 * WAIT      the same for a flag -> WAITGRANT
 *           of a condition variable, ENTER: -> WAITGRANT, at: a place; and at:
 *           the place -> WAITGRANT, when that was woken
 * INV       the notices for which a grant had no room, from pos on; LOG:
 *           of object len, at: the log's epoch; NEWS: of barrier pos, from
 *           number at on -> INV with REPLY
 *           RECALL: from a lock's manager to the rank with which it stays; at:
 *           the number, pos: whether BUSY is to answer if a thread is inside;
 *           no thread waits for it
 * WTNT      notices for which REL (LOG) or BARR (NEWS) has no room, before
 *           it -> NULL
 * REL       len: the object, at: epoch, pos: notices in the body, or more than
 *           a log holds -> NULL
 *           KEEP: the lock stays with its holder -> NULL, len: 1, or 0 if it
 *           must not, at: a number for this stay
 *           SIGNAL, BROADCAST: wake one that waits, or all -> NULL
 * BCAST     hello; at: which address it was sent to, body: any, to see what
 *           the network passes -> NULL
 */
enum hearthi_udp_op {
    HEARTHI_UDP_NULL = 100,
    HEARTHI_UDP_EXIT = 101,
    HEARTHI_UDP_GETP = 110,
    HEARTHI_UDP_GETPGRANT,
    HEARTHI_UDP_DIFF,
    HEARTHI_UDP_DIFFGRANT,
    HEARTHI_UDP_BARR,
    HEARTHI_UDP_BARRGRANT,
    HEARTHI_UDP_ACQ,
    HEARTHI_UDP_ACQGRANT,
    HEARTHI_UDP_WAIT,
    HEARTHI_UDP_WAITGRANT,
    HEARTHI_UDP_INV,
    HEARTHI_UDP_WTNT,
    HEARTHI_UDP_REL,
    HEARTHI_UDP_BCAST,
    HEARTHI_UDP_OPS = 16,
    HEARTHI_UDP_RELIABLE = 0x80 /* acknowledge this */
};

/* Kinds.  Flags of grants may be together. */
enum {
    HEARTHI_UDP_DONE = 0,     /* NULL */
    HEARTHI_UDP_ACK = 1,      /* NULL: arrived */
    HEARTHI_UDP_WAITS = 2,    /* NULL: arrived, and stands in a queue */
    HEARTHI_UDP_ANNOUNCE = 1, /* GETP: set the sharer flags */
    HEARTHI_UDP_ADD = 1,      /* DIFF, DIFFGRANT */
    HEARTHI_UDP_SWAP = 2,
    HEARTHI_UDP_CAS = 3,
    HEARTHI_UDP_ADDS = 4,
    HEARTHI_UDP_AND = 5,
    HEARTHI_UDP_OR = 6,
    HEARTHI_UDP_XOR = 7,
    HEARTHI_UDP_SUM = 8,
    HEARTHI_UDP_TRY = 1,            /* ACQ; may be together with the next */
    HEARTHI_UDP_WRITE = 2,          /* ... of a reader-writer lock */
    HEARTHI_UDP_ENTER = 1,          /* WAIT */
    HEARTHI_UDP_INVALIDATE_ALL = 1, /* BARR and all grants */
    HEARTHI_UDP_MOVES = 2,          /* BARR, BARRGRANT: pages may move */
    HEARTHI_UDP_DUE = 4,            /* BARR, BARRGRANT: a checkpoint is due */
    HEARTHI_UDP_ALARM = 8,          /* ... since a signal came */
    HEARTHI_UDP_SHARED = 16,        /* BARR, BARRGRANT: many first copies */
    HEARTHI_UDP_ASKS = HEARTHI_UDP_MOVES | HEARTHI_UDP_DUE |
                       HEARTHI_UDP_ALARM | HEARTHI_UDP_SHARED,
    HEARTHI_UDP_AHEAD = 2, /* ACQGRANT, WAITGRANT */
    HEARTHI_UDP_TAKEN = 4, /* ACQGRANT: the lock is ours */
    HEARTHI_UDP_AGAIN = 8, /* ACQGRANT: no other rank had it since */
    HEARTHI_UDP_LOG = 0,   /* INV, WTNT */
    HEARTHI_UDP_NEWS = 1,
    HEARTHI_UDP_REPLY = 2, /* INV */
    HEARTHI_UDP_LOST = 4,
    HEARTHI_UDP_RECALL = 8,
    HEARTHI_UDP_BUSY = 16,
    HEARTHI_UDP_UNLOCK = 0, /* REL */
    HEARTHI_UDP_SET = 1,
    HEARTHI_UDP_RESET = 2,
    HEARTHI_UDP_KEEP = 3,
    HEARTHI_UDP_SIGNAL = 4,
    HEARTHI_UDP_BROADCAST = 5
};

enum {
    HEARTHI_UDP_HEAD = 48,
    HEARTHI_UDP_DATAGRAM = 61440 + HEARTHI_UDP_HEAD, /* no more, ever */
    HEARTHI_UDP_FRAGMENT_MIN = 496, /* of the smallest MTU, 576 */
    HEARTHI_UDP_FRAGMENTS = 128,    /* of one GETP */
    HEARTHI_UDP_SLOTS = 256,        /* clients of a rank */
    HEARTHI_UDP_BULK =
        17, /* the first of them, for pages and diffs (udp_job.h) */
    HEARTHI_UDP_NOTICE = 24,     /* bytes */
    HEARTHI_UDP_ADDS_MOST = 512, /* adds of one message */
    /* Before each run of a diff: offset, length; or of a patch: offset, this
     * and the shift of its units, and then the word of bits. */
    HEARTHI_UDP_RUN = 12,
    HEARTHI_UDP_PATCH = HEARTHI_UDP_RUN + 8
};
#define HEARTHI_UDP_IS_PATCH UINT32_C(0x80000000)

/* A set of fragments. */
struct hearthi_udp_set {
    uint64_t bit[HEARTHI_UDP_FRAGMENTS / 64];
};

struct hearthi_udp_message {
    uint64_t       mac;
    uint8_t        op, kind;
    bool           reliable;
    uint16_t       slot;
    uint32_t       from, to, turn, len, pos;
    uint64_t       seq, at;
    const uint8_t *body;
    size_t         body_len;
};

/* What a decoder must know of the job to tell sense from nonsense. */
struct hearthi_udp_limits {
    uint32_t rank, size;             /* this rank, and how many there are */
    uint32_t locks, rws, more_locks; /* objects are locks, then flags and so
                                        on, from rws on reader-writer locks,
                                        from more_locks on locks again */
    uint32_t objects;                /* all of them */
    uint32_t log;                    /* notices in a log */
    size_t   told_at, names_at, frames_at, bytes; /* of a segment */
};

/* Why a datagram is dropped. */
enum hearthi_udp_reason {
    HEARTHI_UDP_GOOD,
    HEARTHI_UDP_BAD_LENGTH,
    HEARTHI_UDP_BAD_OPERATION, /* or kind */
    HEARTHI_UDP_BAD_RANK,      /* or slot */
    HEARTHI_UDP_BAD_PLACE,     /* page, offset, object */
    HEARTHI_UDP_BAD_MAC,
    HEARTHI_UDP_BAD_SEQUENCE,
    HEARTHI_UDP_BAD_ADDRESS, /* of none of the sender's hosts */
    HEARTHI_UDP_REASONS
};

/* Read a datagram; m->body points into it.  All that its receiver indexes
 * memory with is within the limits when this says GOOD; the MAC and the
 * sequence are for others to judge. */
enum hearthi_udp_reason
hearthi_udp_decode(const void *data, size_t len,
                   const struct hearthi_udp_limits *limits,
                   struct hearthi_udp_message      *m);

/* The same of a datagram in two places; len counts both. */
enum hearthi_udp_reason
hearthi_udp_decode_parts(const uint8_t *head, const uint8_t *body, size_t len,
                         const struct hearthi_udp_limits *limits,
                         struct hearthi_udp_message      *m);

/* Read a head alone, unchecked; write one. */
void hearthi_udp_head_read(const void *head, struct hearthi_udp_message *m);
void hearthi_udp_encode(const struct hearthi_udp_message *m, uint8_t *head);

bool hearthi_udp_is_request(const struct hearthi_udp_message *m);

/* Does a server tell another about a lock that stays? */
static inline bool
hearthi_udp_is_recall(const struct hearthi_udp_message *m)
{
    return m->op == HEARTHI_UDP_INV && m->kind >= HEARTHI_UDP_RECALL;
}

/* The next piece of a DIFF that was decoded; start with *at == 0. */
struct hearthi_udp_diff {
    uint64_t       offset;
    uint32_t       len;   /* that it may store to */
    bool           patch; /* by these bits; else all */
    unsigned       shift;
    uint64_t       bits;
    const uint8_t *bytes;
};

bool hearthi_udp_diff_next(const struct hearthi_udp_message *m, size_t *at,
                           struct hearthi_udp_diff *run);

/* "GETPGRANT" */
const char *hearthi_udp_name(unsigned op);

/* 0 .. HEARTHI_UDP_OPS - 1, for counters, and the name of what has such an
 * index; NULL behind the last. */
unsigned    hearthi_udp_index(unsigned op);
const char *hearthi_udp_kind_name(unsigned i);

static inline bool
hearthi_udp_has(const struct hearthi_udp_set *s, unsigned i)
{
    return s->bit[i / 64] >> i % 64 & 1;
}

static inline void
hearthi_udp_put(struct hearthi_udp_set *s, unsigned i)
{
    s->bit[i / 64] |= UINT64_C(1) << i % 64;
}

static inline void
hearthi_udp_take(struct hearthi_udp_set *s, unsigned i)
{
    s->bit[i / 64] &= ~(UINT64_C(1) << i % 64);
}

/* The largest; the set is not empty. */
static inline unsigned
hearthi_udp_last(const struct hearthi_udp_set *s)
{
    unsigned i = HEARTHI_UDP_FRAGMENTS / 64 - 1;

    while (i > 0 && s->bit[i] == 0)
        i--;
    return 64 * i + 63 - (unsigned)__builtin_clzll(s->bit[i] | 1);
}

static inline unsigned
hearthi_udp_count(const struct hearthi_udp_set *s)
{
    unsigned n = 0;

    for (int i = 0; i < HEARTHI_UDP_FRAGMENTS / 64; i++)
        n += (unsigned)__builtin_popcountll(s->bit[i]);
    return n;
}

#endif
