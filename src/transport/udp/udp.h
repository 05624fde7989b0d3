/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The udp transport, between its files.
 *
 * Each rank has one server socket with a service thread, which executes
 * requests, and client sockets, a *slot* each: whoever asks takes a slot and
 * receives the answer there itself.  Pages and diffs have slot 0, which the
 * lock of the page table guards; every other call takes a free one.
 *
 * Any datagram may come twice, late or never.  A client repeats its request
 * until the answer is there, and numbers its requests to each server.  A
 * server does nothing twice (server.c).
 */
#ifndef HEARTHI_TRANSPORT_UDP_H
#define HEARTHI_TRANSPORT_UDP_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/option.h"
#include "base/timing.h"
#include "transport/event.h"
#include "transport/transport.h"
#include "wire.h"

enum {
    HEARTHI_UDP_SMALL = HEARTHI_LOG * HEARTHI_UDP_NOTICE, /* body, at most */
    HEARTHI_UDP_NEWS_MAX = 131072 /* notices of a barrier; more is all */
};

struct hearthi_udp {
    struct hearthi_udp_limits limits;
    struct sockaddr_in       *server; /* of each rank */
    uint8_t                   key[16], body_key[32];
    uint64_t                  session;
    bool                      auth;
    size_t                    fragment; /* most bytes of a body */
    uint32_t                  notices;  /* most in a small message */
    size_t                    room;     /* that any server's socket has */
};

extern struct hearthi_udp hearthi_udp;

/* ---- seal.c ---- */

void hearthi_udp_seal_open(void);
void hearthi_udp_seal_close(void);

/* Was the library built with a keyed hash? */
bool     hearthi_udp_can_seal(void);
uint64_t hearthi_udp_seal(const uint8_t *head, const void *body, size_t len);

/* ---- socket.c ---- */

/* Are all ranks on one machine? */
bool hearthi_udp_one_machine(void);

/* A socket bound to a port (0: any), with large buffers, that only this
 * machine reaches if all ranks are there; what of its receive buffer datagrams
 * can use. */
int    hearthi_udp_socket(unsigned port);
size_t hearthi_udp_room(int fd);
struct sockaddr_in hearthi_udp_address_of(int fd);

enum {
    HEARTHI_UDP_BATCH = 64,   /* datagrams of one call, at most */
    HEARTHI_UDP_CALL = 65507, /* bytes of one call, at most */
};

/* Seal and send; what the kernel cannot take now counts as lost.  `head` may
 * be NULL, or gets the head as it was sent. */
void hearthi_udp_send(int fd, const struct sockaddr_in *to,
                      struct hearthi_udp_message *m, uint8_t *head);

/* Write the head of a message whose body is there. */
void hearthi_udp_head(struct hearthi_udp_message *m, uint8_t *head);

/* Send n datagrams of a head and a body each, in turn in `part`, all but the
 * last of `each` bytes: at most HEARTHI_UDP_BATCH and HEARTHI_UDP_CALL. */
void hearthi_udp_send_together(int fd, const struct sockaddr_in *to,
                               struct iovec *part, unsigned n, size_t each);

/* Send a datagram that was sent before, head and body together. */
void hearthi_udp_send_again(int fd, const struct sockaddr_in *to,
                            const uint8_t *datagram, size_t len);

/* ---- inbox.c ---- */

/* What a receiver needs, and what its last call of the kernel brought. */
struct hearthi_udp_item {
    const uint8_t     *head, *body;
    size_t             len; /* of both */
    struct sockaddr_in from;
};

struct hearthi_udp_inbox {
    int                         fd;
    bool                        server;
    uint8_t                    *buffer, *spare, *held;
    struct hearthi_udp_trouble *trouble;
    uint32_t                    overruns; /* as the kernel counts them */
    struct hearthi_service      service;  /* a server's thread is awake */
    unsigned                    n, at;
    struct hearthi_udp_item     item[HEARTHI_UDP_BATCH];
};

/* A server's receives from many and takes several datagrams in one call, a
 * client's takes those of one sender that the kernel has put together. */
void hearthi_udp_inbox_open(struct hearthi_udp_inbox *in, int fd,
                            bool server);
void hearthi_udp_inbox_close(struct hearthi_udp_inbox *in);

/* Where the bodies of the next messages go if they are the ones expected:
 * they may be written to in any case. */
struct hearthi_udp_place {
    void    *at;
    size_t   len;
    uint64_t offset; /* the message's `at` */
    uint32_t from, seq;
};
struct hearthi_udp_places {
    unsigned                 n;
    struct hearthi_udp_place place[HEARTHI_UDP_BATCH];
};

/* The next good message before `end` (of hearthi_now, UINT64_MAX: for ever),
 * or false.  Its body is valid until the next call.  places may be NULL. */
bool hearthi_udp_receive(struct hearthi_udp_inbox *in, uint64_t end,
                         const struct hearthi_udp_places *places,
                         struct hearthi_udp_message      *m,
                         struct sockaddr_in              *from);

/* ---- trouble.c: loss and disorder on order ---- */

struct hearthi_udp_trouble *hearthi_udp_trouble_open(void); /* or NULL */
void hearthi_udp_trouble_close(struct hearthi_udp_trouble *t);

/* A datagram has come: true if it is to be taken now. */
bool hearthi_udp_trouble_pass(struct hearthi_udp_trouble *t,
                              const uint8_t *data, size_t len,
                              const struct sockaddr_in *from);

/* One that was held back and is due: its length, or 0. */
size_t hearthi_udp_trouble_take(struct hearthi_udp_trouble *t, uint8_t *data,
                                struct sockaddr_in *from);

/* When the next is due, or UINT64_MAX. */
uint64_t hearthi_udp_trouble_due(const struct hearthi_udp_trouble *t);

/* ---- local.c: messages inside a node ---- */

void hearthi_udp_local_open(void); /* both: collective over the node */
void hearthi_udp_local_close(void);

/* Another rank, whose messages go through shared memory? */
bool hearthi_udp_is_local(int rank);

/* Send a request, and take its answer, which is valid until the slot's next
 * request. */
void hearthi_udp_local_ask(const struct hearthi_udp_message *ask);
void hearthi_udp_local_answer(unsigned slot,
                              struct hearthi_udp_message *answer);

/* Answer one. */
void hearthi_udp_local_grant(const struct hearthi_udp_message *m);

/* ---- count.c ---- */

void hearthi_udp_count_sent(unsigned op, unsigned messages, size_t bytes);
void hearthi_udp_count_resent(unsigned op); /* it was sent again */
void hearthi_udp_count_refused(enum hearthi_udp_reason reason);

const char *hearthi_udp_reason_name(unsigned i);

/* ---- timer.c ---- */

/* Time-outs.  A rank's round trips give the time after which a message is
 * sent again (RFC 6298), which doubles with each try up to a bound. */
struct hearthi_udp_timer {
    uint64_t first, sent, wait; /* when, and how long until it goes again */
    uint64_t silent;            /* so long has nothing been heard */
    unsigned tries;
};

void hearthi_udp_trips_open(void);
void hearthi_udp_trips_close(void);

void hearthi_udp_timer_start(struct hearthi_udp_timer *t, int rank);
void hearthi_udp_timer_heard(struct hearthi_udp_timer *t, uint64_t now);

/* Answered: learn from the time that it took. */
void hearthi_udp_timer_done(struct hearthi_udp_timer *t, int rank,
                            bool waited);

/* End the job, because a rank is silent. */
_Noreturn void hearthi_udp_gone(int rank, const char *what);

/* True if the message is due to be sent again, which is noted as done. Ends
 * the job if the rank was silent for too long. */
bool hearthi_udp_timer_late(struct hearthi_udp_timer *t, int rank,
                            const char *what);

/* ---- watch.c: ranks that others wait for ---- */

void hearthi_udp_watch_open(void); /* after the hello */
void hearthi_udp_watch_close(void);

/* Around whatever may last because of other ranks; `what` is the call. */
void hearthi_udp_wait_begin(const char *what);
void hearthi_udp_wait_end(void);

/* ---- client.c ---- */

struct hearthi_udp_client {
    struct hearthi_udp_inbox in;
    uint16_t                 slot;
    uint32_t                *seq; /* of the last request to each rank */
};

void hearthi_udp_clients_open(void);
void hearthi_udp_clients_close(void);

/* The client of pages and diffs, and any other, to be given back. */
struct hearthi_udp_client *hearthi_udp_bulk(void);
struct hearthi_udp_client *hearthi_udp_client_take(void);
void hearthi_udp_client_give(struct hearthi_udp_client *c);

/* Does a message of this operation get an acknowledgement of its own? */
bool hearthi_udp_acked(unsigned op);

/* Ask a rank and wait for the answer; `what` is the call, for the line that
 * ends the job.  The answer's body is valid until the client's next call. */
void hearthi_udp_call(struct hearthi_udp_client *c, int rank,
                      struct hearthi_udp_message *ask, const char *what,
                      struct hearthi_udp_message *answer);

/* Send those notices that the last message, which brings the rest, has no
 * room for, in parts that are WTNT: how many they were. */
size_t hearthi_udp_notices_ahead(struct hearthi_udp_client   *c, int rank,
                                 struct hearthi_udp_message   part,
                                 const struct hearthi_notice *notice,
                                 size_t count, const char *what);

/* Tell the sender of a message that it has arrived, if it wants that. */
void hearthi_udp_acknowledge(int fd, const struct hearthi_udp_message *m,
                             const struct sockaddr_in *to);

/* ---- flight.c: requests of slot 0 on their way ---- */

enum {
    HEARTHI_UDP_PIECES = 16, /* requests for pages, at most */
    HEARTHI_UDP_FLIGHTS = HEARTHI_UDP_PIECES + HEARTHI_DIFF_DEPTH_MAX
};

struct hearthi_udp_flight {
    bool                       busy, alone;
    unsigned                   turn; /* of its last try, of all */
    struct hearthi_udp_message ask;
    struct hearthi_udp_timer   timer;
    const char                *what; /* the call, for a line */
    void (*prepare)(struct hearthi_udp_flight *f); /* put the turn into it */
};

void hearthi_udp_flights_open(void);

/* May a request of so many bytes go to a home now? */
bool hearthi_udp_flight_may(uint32_t home, size_t bytes);

/* Send one, whose ask is complete but for the number. */
void hearthi_udp_flight_launch(struct hearthi_udp_flight *f);

/* What a message answers, if it is a request of this operation, or NULL. */
struct hearthi_udp_flight *
hearthi_udp_flight_of(const struct hearthi_udp_message *m, unsigned op);

/* All of its answer is there; the home has told what it can take. */
void hearthi_udp_flight_land(struct hearthi_udp_flight *f, size_t told);

/* An answer, or a part of it, came to a request of this turn; `ended`: the
 * last that the home sends for it. */
void    hearthi_udp_flight_heard(struct hearthi_udp_flight *f, uint64_t turn,
                                 bool ended);
uint8_t hearthi_udp_flight_turn(const struct hearthi_udp_flight *f);

/* The time of the next time-out, and what to do then. */
uint64_t hearthi_udp_flights_due(void);
void     hearthi_udp_flights_late(void);

/* ---- page.c, diff.c: several messages on their way in slot 0 ---- */

void hearthi_udp_fetch(const struct hearthi_fetch *run, size_t n);
void hearthi_udp_diff(int home, size_t offset, const void *src, size_t len);
void hearthi_udp_tell(int home);
void hearthi_udp_flush(void);
void hearthi_udp_diffs_send(void); /* those that were kept to be packed */

void hearthi_udp_pages_open(void);
void hearthi_udp_diffs_open(void);
void hearthi_udp_diffs_close(void);

/* Wait for one message and take it, and send again what is late. */
void hearthi_udp_bulk_turn(void);

/* Their parts of that. */
void hearthi_udp_page_take(const struct hearthi_udp_message *m);
void hearthi_udp_page_places(struct hearthi_udp_places *places);
void hearthi_udp_diff_take(const struct hearthi_udp_message *m);

/* ---- pace.c: what a home's receive buffer can take ---- */

void hearthi_udp_paces_open(void);
void hearthi_udp_paces_close(void);

/* May so many bytes go to a home now?  They went; they are answered, and it
 * has told what it can take (0: nothing).  In slot 0. */
bool hearthi_udp_pace_may(uint32_t home, size_t bytes);
void hearthi_udp_pace_sent(uint32_t home, size_t bytes);
void hearthi_udp_pace_done(uint32_t home, size_t bytes, size_t told);

/* At the home: a client has sent a diff; what it may have on its way. */
uint32_t hearthi_udp_pace_share(uint32_t client);

/* ---- sync.c: the client's side of locks, flags and atomics ---- */

bool    hearthi_udp_acquire(int sync, bool try, struct hearthi_grant *g);
void    hearthi_udp_release(int sync, uint16_t epoch,
                            const struct hearthi_notice *n, size_t count);
void    hearthi_udp_flag_set(int sync, uint16_t epoch,
                             const struct hearthi_notice *n, size_t count);
void    hearthi_udp_flag_wait(int sync, struct hearthi_grant *g);
void    hearthi_udp_flag_reset(int sync);
int64_t hearthi_udp_atomic(enum hearthi_atomic op, int home, size_t offset,
                           int64_t value);

/* ---- home.c: what slot 0 asks the service thread for ---- */

void hearthi_udp_home_open(int fd); /* the server's socket */
void hearthi_udp_home_close(void);
void hearthi_udp_home_serve(const struct hearthi_udp_message *m,
                            const struct sockaddr_in         *from);

/* ---- server.c ---- */

/* A client as its server sees it. */
struct hearthi_udp_peer {
    struct sockaddr_in address;
    uint32_t           seq; /* of its last request */
    bool               answered;
    uint64_t           seen; /* slot 0: which before seq were executed */
    uint32_t           next; /* in a queue: index + 1 */
    uint32_t           pos;  /* what a waiting one has read of the log */
    uint16_t           epoch;
    size_t             len; /* of the last answer */
    uint8_t            answer[HEARTHI_UDP_HEAD + HEARTHI_UDP_SMALL];
};

extern pthread_mutex_t hearthi_udp_mutex; /* of all that servers keep */

void hearthi_udp_server_open(int fd);
void hearthi_udp_server_close(void);

char *hearthi_udp_segment(void); /* this rank's */

/* What answers m, to be filled. */
struct hearthi_udp_message hearthi_udp_answer_to(
    const struct hearthi_udp_message *m, unsigned op);

/* Send it; false if it wants an acknowledgement and gets none here. */
bool hearthi_udp_answer_send(struct hearthi_udp_inbox   *acks,
                             struct hearthi_udp_message *m,
                             const struct sockaddr_in *to, uint8_t *head);

/* Ranks are told apart in numbers of peers: over ranks and slots. */
struct hearthi_udp_peer *hearthi_udp_peer(uint32_t number);
uint32_t hearthi_udp_peer_of(const struct hearthi_udp_message *m);

/* Do what one of this rank's own threads asks, and wait for the answer, which
 * is valid until the slot's next request. */
void hearthi_udp_serve_own(const struct hearthi_udp_message *ask,
                           struct hearthi_udp_message       *answer);

/* Do what another rank of the node asks. */
void hearthi_udp_serve_local(const struct hearthi_udp_message *ask);

/* A thread that no signal of the program's goes to. */
void hearthi_udp_thread_start(pthread_t *thread, void *(*body)(void *));
void hearthi_udp_thread_end(pthread_t thread, const atomic_bool *ended, int fd,
                            const struct sockaddr_in *to);

/* Answer a peer's last request, now or later.  With the mutex. */
void hearthi_udp_answer(uint32_t peer, struct hearthi_udp_message *m);

/* ---- manager.c: locks and flags.  With the mutex. ---- */

void hearthi_udp_manager_open(void);
void hearthi_udp_manager_close(void);
void hearthi_udp_manage(uint32_t peer, const struct hearthi_udp_message *m);

/* ---- barrier.c ---- */

void hearthi_udp_barrier_open(void);
void hearthi_udp_barrier_close(void);
void hearthi_udp_barrier(const struct hearthi_notice *own, size_t n,
                         bool everything, struct hearthi_news *news);
void hearthi_udp_barrier_serve(uint32_t                          peer,
                               const struct hearthi_udp_message *m);

/* ---- address.c ---- */

/* Fill hearthi_udp.server with addresses that were heard from, and say how
 * large a datagram may be.  Collective; the service thread runs between the
 * two. */
int    hearthi_udp_cards_exchange(void); /* gives the server's socket */
size_t hearthi_udp_mtu(void);
void   hearthi_udp_hello(void);

#endif
