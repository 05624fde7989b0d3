/* SPDX-License-Identifier: BSD-2-Clause
 *
 * One connection between two gateways: TCP, TLS in it, a hello of each side,
 * then frames.  It does not know which messages there are: it asks its owner
 * for the next and hands on what comes.
 */
#ifndef HEARTHI_LINK_LANE_H
#define HEARTHI_LINK_LANE_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "hello.h"
#include "post.h"
#include "tls.h"

enum hearthi_lane_state {
    HEARTHI_LANE_NONE,
    HEARTHI_LANE_CONNECTING, /* TCP */
    HEARTHI_LANE_SHAKING,    /* TLS */
    HEARTHI_LANE_HELLO,      /* waits for the other's */
    HEARTHI_LANE_UP,
};

/* What a connection died of. */
enum hearthi_lane_end {
    HEARTHI_LANE_LIVES,
    HEARTHI_LANE_GONE,    /* the network, or the other side */
    HEARTHI_LANE_NOBODY,  /* nothing listens there */
    HEARTHI_LANE_FOREIGN, /* it speaks, but not with our key */
    HEARTHI_LANE_BROKEN,  /* it has the key, and sends what makes no sense */
};

enum { HEARTHI_LANE_LONGEST = 256 << 20 }; /* bytes of a message */

enum hearthi_frame_kind {
    HEARTHI_MESSAGE = 1, /* has a number */
    HEARTHI_BYE,         /* has a number: the last one */
    HEARTHI_BEAT,        /* says that this side lives, and what has come */
    HEARTHI_END,         /* this side's job ends; the body says why */
    HEARTHI_LEFT,        /* this side has all, and needs nothing (end.c) */
};

struct hearthi_lane;

/* The owner's side.  None may close the lane: false, after
 * hearthi_lane_fail(), has it end. */
struct hearthi_lane_calls {
    bool (*shaken)(struct hearthi_lane *l); /* TLS stands */
    bool (*hello)(struct hearthi_lane *l, struct hearthi_hello *theirs);
    struct hearthi_letter *(*next)(struct hearthi_lane *l);
    uint64_t (*ack)(struct hearthi_lane *l);
    /* Whole; the body is the lane's and lies at a multiple of 8. */
    bool (*frame)(struct hearthi_lane *l, const struct hearthi_frame *head,
                  const void *body);
};

/* What goes out: the letter, how much of it, and the bytes that TLS is to be
 * given, again if it could not take them. */
enum { HEARTHI_LANE_STAGE = 16 << 10 }; /* a record of TLS */

struct hearthi_lane_out {
    struct hearthi_letter *letter;
    size_t                 written;
    const unsigned char   *chunk;
    size_t                 chunk_len;
    bool                   beat; /* say something, if there is nothing else */
    bool                   left; /* and say that this side has left */
    bool                   last; /* begin no other letter */
    uint64_t               records, rekey; /* with one key; at most */
    unsigned char          stage[HEARTHI_LANE_STAGE];
};

/* What comes in: first into data; a long body, into memory of its own. */
enum { HEARTHI_LANE_IN = 128 << 10 };

struct hearthi_lane_in {
    size_t               from, to; /* in data, not taken yet */
    struct hearthi_frame head;     /* of the long body */
    unsigned char       *body;
    size_t               body_at, body_len, body_room;
    _Alignas(max_align_t) unsigned char data[HEARTHI_LANE_IN];
};

struct hearthi_lane {
    struct hearthi_lane    *next; /* in a list of the owner's */
    enum hearthi_lane_state state;
    enum hearthi_lane_end   end;
    bool                    greeted; /* hello was said */
    bool                    more;    /* has not read all */
    bool                    left_said;
    int                     fd, epoll, index, cluster;
    int                     at;     /* which of the gateway's addresses */
    uint32_t                events; /* asked of epoll */
    SSL                    *ssl;
    uint64_t                since, heard, said; /* ns */
    uint64_t                came;               /* bytes of TLS */
    char                    why[160];           /* it ended */
    char                    from[80];           /* address of the other side */
    uint64_t                bytes_in, bytes_out;

    const struct hearthi_lane_calls *calls;
    void                            *owner;
    struct hearthi_lane_out          out;
    struct hearthi_lane_in           in;
};

/* A connection to an address, or one that was accepted.  NULL: see errno. */
struct hearthi_lane *hearthi_lane_connect(struct hearthi_tls *tls, int epoll,
                                          const struct sockaddr *to,
                                          socklen_t              len);
struct hearthi_lane *hearthi_lane_accept(struct hearthi_tls *tls, int epoll,
                                         int fd);

/* Everything that can be done without waiting.  False: the lane is at its end,
 * see end and why. */
bool hearthi_lane_work(struct hearthi_lane *l);

/* Of that, to send what the owner has; and to read. */
bool hearthi_lane_push(struct hearthi_lane *l);
bool hearthi_lane_read(struct hearthi_lane *l);

/* What hearthi_lane_push() and hearthi_lane_farewell() consist of. */
bool hearthi_lane_write(struct hearthi_lane *l);
void hearthi_lane_end_write(struct hearthi_lane *l, const char *text);

bool hearthi_lane_say_hello(struct hearthi_lane        *l,
                            const struct hearthi_hello *mine);

/* The last words.  They are sent for at most so many milliseconds, and this
 * half of the connection is closed; the owner waits for the other half's end,
 * since the words are lost if the socket is closed with something unread. */
void hearthi_lane_farewell(struct hearthi_lane *l, const char *text, int ms);

/* Has the other side closed its half, too?  What it still sends is thrown
 * away, some with each call. */
bool hearthi_lane_over(struct hearthi_lane *l);

void hearthi_lane_free(struct hearthi_lane *l);

/* It ends, and why; returns false. */
bool hearthi_lane_fail(struct hearthi_lane *l, enum hearthi_lane_end end,
                       const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold));

/* A call of OpenSSL has returned what is not success: true if it is to be
 * called again later, else the lane ends. */
bool hearthi_lane_later(struct hearthi_lane *l, int result);

/* Bytes of a body on its way. */
static inline size_t
hearthi_lane_padded(size_t len)
{
    return (len + 7) & ~(size_t)7;
}

#endif
