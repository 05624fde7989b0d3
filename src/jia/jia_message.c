/* SPDX-License-Identifier: BSD-2-Clause
 *
 * JIAJIA's messages, through MPI.  Every message passes through a buffer of
 * ours: a sender need not wait, as in JIAJIA, and MPI and the kernel never
 * see an address of the heap, where a page may be missing.
 *
 * A long message goes on only while its sender is inside MPI.  Over mpi that
 * is so wherever Hearth waits; over udp, and where a lock is free, it is not:
 * so each call of JIAJIA that may wait looks after those that have not gone,
 * at its begin and while it waits.
 */
#include "config.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/mutex.h"
#include "base/report.h"
#include "cluster.h"
#include "front/direct.h"
#include "hearth/jia.h"
#include "jia_hosts.h"
#include "jia_start.h"
#include "node/event.h"
#include "node/relax.h"
#include "transport/transport.h"

struct sent {
    struct sent *next;
    MPI_Request  request;
    char         bytes[];
};

static struct sent    *pending;
static atomic_bool     any; /* is it not empty? */
static pthread_mutex_t pending_lock = PTHREAD_MUTEX_INITIALIZER;

/* Forget what has gone.  With the mutex. */
static void
pending_test(void)
{
    for (struct sent **at = &pending; *at != NULL;) {
        struct sent *s = *at;
        int          done;

        HEARTHI_MPI(MPI_Test(&s->request, &done, MPI_STATUS_IGNORE));
        if (done) {
            *at = s->next;
            free(s);
        } else {
            at = &s->next;
        }
    }
    any = pending != NULL;
}

/* True if nothing is left. */
static bool
pending_sweep(void)
{
    bool empty;

    hearthi_mutex_lock(&pending_lock, HEARTHI_MUTEX_MESSAGES);
    pending_test();
    empty = !any;
    hearthi_mutex_unlock(&pending_lock, HEARTHI_MUTEX_MESSAGES);
    return empty;
}

/* In the midst of a wait, with whatever mutexes that has. */
static void
pending_idle(void)
{
    HEARTHI_UNCANCELLED;

    if (!any || pthread_mutex_trylock(&pending_lock) != 0)
        return;
    hearthi_witness_tried(HEARTHI_MUTEX_MESSAGES);
    pending_test();
    hearthi_mutex_unlock(&pending_lock, HEARTHI_MUTEX_MESSAGES);
}

void
hearthi_jia_messages_wait_begin(void)
{
    if (!any)
        return;
    pending_idle();
    hearthi_event_idle = pending_idle;
}

void
hearthi_jia_messages_wait_end(void)
{
    hearthi_event_idle = NULL;
}

static void *
buffer_new(const char *call, size_t bytes)
{
    void *p = malloc(bytes > 0 ? bytes : 1);

    if (p == NULL)
        hearthi_fatal(call, "no memory for a message of %zu bytes", bytes);
    return p;
}

static void
length_check(const char *call, int len)
{
    hearthi_jia_require(call);
    if (len < 0)
        hearthi_fatal(call, "%d bytes: give at least 0", len);
}

static void
tag_check(const char *call, int tag, int least)
{
    int *most, found;

    MPI_Comm_get_attr(hearthi_jia.comm, MPI_TAG_UB, &most, &found);
    if (tag < least || (found && tag > *most))
        hearthi_fatal(call, "tag %d does not exist: give 0 to %d", tag,
                      found ? *most : 32767);
}

void
jia_send(const void *buf, int len, int to, int tag)
{
    HEARTHI_UNCANCELLED;
    struct sent *s;

    length_check("jia_send", len);
    hearthi_jia_number("jia_send", "host", to, jia_hosts);
    tag_check("jia_send", tag, 0);
    s = buffer_new("jia_send", sizeof *s + (size_t)len);
    if (len > 0)
        memcpy(s->bytes, buf, (size_t)len);
    HEARTHI_MPI(MPI_Isend(s->bytes, len, MPI_BYTE, to, tag, hearthi_jia.comm,
                          &s->request));
    hearthi_mutex_lock(&pending_lock, HEARTHI_MUTEX_MESSAGES);
    s->next = pending;
    pending = s;
    any = true;
    hearthi_mutex_unlock(&pending_lock, HEARTHI_MUTEX_MESSAGES);
    pending_sweep();
}

/* Take a message that has been matched; returns its bytes. */
static char *
message_take(const char *call, MPI_Message *message, MPI_Status *status,
             int *bytes)
{
    MPI_Request request;
    char       *got;

    MPI_Get_count(status, MPI_BYTE, bytes);
    got = buffer_new(call, (size_t)*bytes);
    HEARTHI_MPI(MPI_Imrecv(got, *bytes, MPI_BYTE, message, &request));
    hearthi_requests_wait(&request, 1);
    return got;
}

int
jia_recv(void *buf, int len, int from, int tag)
{
    HEARTHI_UNCANCELLED;
    int         source = from == MSG_PROC_ALL ? MPI_ANY_SOURCE : from;
    int         wanted = tag == MSG_TAG_ALL ? MPI_ANY_TAG : tag;
    int         found = 0, bytes;
    unsigned    turn = 0;
    MPI_Message message;
    MPI_Status  status;
    char       *got;

    length_check("jia_recv", len);
    if (from != MSG_PROC_ALL)
        hearthi_jia_number("jia_recv", "host", from, jia_hosts);
    tag_check("jia_recv", tag, MSG_TAG_ALL);
    hearthi_jia_wait_begin();
    for (;;) {
        HEARTHI_MPI(MPI_Improbe(source, wanted, hearthi_jia.comm, &found,
                                &message, &status));
        if (found)
            break;
        hearthi_relax(&turn);
    }
    got = message_take("jia_recv", &message, &status, &bytes);
    hearthi_jia_wait_end();
    if (bytes > len)
        bytes = len;
    if (bytes > 0)
        memcpy(buf, got, (size_t)bytes);
    free(got);
    return bytes;
}

static MPI_Datatype
reduce_type(int op)
{
    switch (op) {
    case SUM_INT:
    case MAX_INT:
    case MIN_INT: return MPI_INT;
    case SUM_FLOAT:
    case MAX_FLOAT:
    case MIN_FLOAT: return MPI_FLOAT;
    case SUM_DOUBLE:
    case MAX_DOUBLE:
    case MIN_DOUBLE: return MPI_DOUBLE;
    }
    hearthi_fatal("jia_reduce",
                  "operation %d does not exist: give SUM_, MAX_ or MIN_ with "
                  "INT, FLOAT or DOUBLE",
                  op);
}

static MPI_Op
reduce_op(int op)
{
    static const MPI_Op ops[] = { MPI_SUM, MPI_MAX, MPI_MIN };

    return ops[op % 10]; /* of SUM_INT to MIN_DOUBLE */
}

void
jia_reduce(const void *send, void *recv, int count, int op, int root)
{
    HEARTHI_UNCANCELLED;
    MPI_Datatype type;
    MPI_Request  request;
    char        *from, *to;
    int          size;
    size_t       bytes;

    length_check("jia_reduce", count);
    hearthi_jia_number("jia_reduce", "root", root, jia_hosts);
    type = reduce_type(op);
    MPI_Type_size(type, &size);
    bytes = (size_t)count * (size_t)size;
    from = buffer_new("jia_reduce", bytes);
    to = buffer_new("jia_reduce", bytes);
    memcpy(from, send, bytes);
    hearthi_jia_wait_begin();
    HEARTHI_MPI(MPI_Ireduce(from, to, count, type, reduce_op(op), root,
                            hearthi_jia.comm, &request));
    hearthi_requests_wait(&request, 1);
    hearthi_jia_wait_end();
    if (jia_pid == root)
        memcpy(recv, to, bytes);
    free(from);
    free(to);
}

void
jia_bcast(void *buf, int len, int root)
{
    HEARTHI_UNCANCELLED;
    MPI_Request request;
    char       *bytes;

    length_check("jia_bcast", len);
    hearthi_jia_number("jia_bcast", "root", root, jia_hosts);
    bytes = buffer_new("jia_bcast", (size_t)len);
    if (jia_pid == root)
        memcpy(bytes, buf, (size_t)len);
    hearthi_jia_wait_begin();
    HEARTHI_MPI(
        MPI_Ibcast(bytes, len, MPI_BYTE, root, hearthi_jia.comm, &request));
    hearthi_requests_wait(&request, 1);
    hearthi_jia_wait_end();
    if (jia_pid != root)
        memcpy(buf, bytes, (size_t)len);
    free(bytes);
}

void
hearthi_jia_messages_close(void)
{
    MPI_Request end = MPI_REQUEST_NULL;
    unsigned    turn = 0;
    bool        said = false;
    int         done = 0, found, bytes;

    while (!done) {
        MPI_Message message;
        MPI_Status  status;

        HEARTHI_MPI(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, hearthi_jia.comm,
                                &found, &message, &status));
        if (found)
            free(message_take("jia_exit", &message, &status, &bytes));
        if (!said && pending_sweep()) {
            HEARTHI_MPI(MPI_Ibarrier(hearthi_jia.comm, &end));
            said = true;
        }
        if (said)
            HEARTHI_MPI(MPI_Test(&end, &done, MPI_STATUS_IGNORE));
        hearthi_relax(&turn);
    }
}
