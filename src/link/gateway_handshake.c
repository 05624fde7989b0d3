/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Hellos.  The side that connects says it first; the other side takes its
 * connection of that number, instead of the one that it may have, before it
 * answers.  So what both say they have is what they have when the connection
 * begins, and nothing comes by an old connection after that.
 *
 * A difference is seen by both sides, each of which says it: a side that finds
 * one says its hello all the same.
 *
 * Jobs may follow each other at the same gateways (hearth_init() again), and
 * clusters leave one after the other.  So a hello may come of the world before
 * this, which has got messages of a job here that is no more; or of the next,
 * as the job before it has said its last message.  Neither is a difference:
 * its connection ends, with a hello, and it comes again.  A gateway that then
 * still waits for word that the job before has left (link_close.c) has it by
 * that hello.
 */
#include "config.h"

#include <string.h>

#include "link_state.h"

static struct hearthi_gateway_hello
hello_of(const struct hearthi_link *k, const struct hearthi_connection *l,
         int cluster)
{
    struct hearthi_gateway_hello h = { .cluster = k->me,
                                       .conn = l->index,
                                       .job = k->job,
                                       .agree = k->agree,
                                       .tell = k->options.tell };

    strcpy(h.name, k->conf->cluster[k->me].name);
    if (cluster >= 0)
        h.got = k->remote[cluster].post.got;
    return h;
}

bool
hearthi_handshake_shaken(struct hearthi_connection *l)
{
    struct hearthi_link         *k = l->owner;
    struct hearthi_gateway_hello mine = hello_of(k, l, l->cluster);

    return l->cluster < 0 || hearthi_connection_say_hello(l, &mine);
}

/* Is it in our file, under that number, and may it call us? */
static bool
is_in_file(const struct hearthi_link *k, const struct hearthi_connection *l,
           const struct hearthi_gateway_hello *h)
{
    return h->cluster >= 0 && h->cluster < k->conf->n &&
           strcmp(h->name, k->conf->cluster[h->cluster].name) == 0 &&
           (l->cluster >= 0 || h->cluster >= k->me) && h->conn >= 0 &&
           h->conn < HEARTHI_CONNECTIONS_MAX;
}

/* A cluster that may come in by this connection; else what is wrong. */
static bool
name_fits(const struct hearthi_link *k, const struct hearthi_connection *l,
          const struct hearthi_gateway_hello *h,
          struct hearthi_link_error          *wrong)
{
    const struct hearthi_member *all = k->conf->cluster;

    if (h->job == k->job)
        return hearthi_link_error(
            wrong,
            "a gateway of another cluster in %s leads to "
            "this job itself, at %s: correct its address",
            k->conf->path, l->from);
    if (h->cluster == k->me)
        return hearthi_link_error(
            wrong,
            "two jobs with the name %s: here, and at %s: "
            "give each its own HEARTH_CLUSTER",
            all[k->me].name, l->from);
    if (l->cluster >= 0 && h->cluster != l->cluster)
        return hearthi_link_error(
            wrong,
            "the job at %s calls itself %s and not %s: "
            "start it with HEARTH_CLUSTER=%s, or change its "
            "gateway in %s",
            l->from, h->name, all[l->cluster].name, all[l->cluster].name,
            k->conf->path);
    if (!is_in_file(k, l, h))
        return hearthi_link_error(
            wrong,
            "the job at %s calls itself %s, number %d: it "
            "has another file than %s",
            l->from, h->name, h->cluster, k->conf->path);
    return true;
}

static bool
job_fits(const struct hearthi_link *k, const struct hearthi_connection *l,
         const struct hearthi_gateway_hello *h,
         struct hearthi_link_error          *wrong)
{
    const struct hearthi_remote_gateway *m = &k->remote[h->cluster];

    if (!m->known || m->job == h->job)
        return true;
    return hearthi_link_error(
        wrong,
        "cluster %s was started anew, or twice: another job "
        "with its name is at %s: start all clusters anew, "
        "each once",
        h->name, l->from);
}

static void
old_conn_leave(struct hearthi_link *k, int cluster, int index)
{
    struct hearthi_connection *old = k->remote[cluster].conn[index];

    if (old == NULL)
        return;
    hearthi_connection_fail(old, HEARTHI_CONNECTION_GONE,
                            "it has connected again");
    hearthi_remote_gateway_lane_end(k, old);
}

/* What comes from outside is a cluster's now. */
static bool
guest_take(struct hearthi_link *k, struct hearthi_connection *l,
           const struct hearthi_gateway_hello *h)
{
    struct hearthi_gateway_hello mine;

    old_conn_leave(k, h->cluster, h->conn);
    hearthi_acceptor_leave(k, l);
    l->cluster = h->cluster;
    l->index = h->conn;
    mine = hello_of(k, l, l->cluster);
    k->remote[l->cluster].conn[l->index] = l;
    return hearthi_connection_say_hello(l, &mine);
}

static bool
all_known(const struct hearthi_link *k)
{
    for (int c = 0; c < k->conf->n; c++)
        if (c != k->me && !k->remote[c].known)
            return false;
    return true;
}

/* Does the job go on whichever side this is?  Where all clusters run a
 * newcomer changes nothing for them, be it of a file of its own or the second
 * of its name; and a way that leads elsewhere for once may lead right when it
 * is tried again.  But a cluster that was known and of which no connection
 * stands was started anew, and what the old one had is gone. */
static bool
goes_on_without(const struct hearthi_link          *k,
                const struct hearthi_connection    *l,
                const struct hearthi_gateway_hello *h)
{
    bool own = h->job == k->job;
    int  c = l->cluster >= 0 ? l->cluster : h->cluster;

    if (c < 0 || c >= k->conf->n || c == k->me || !k->remote[c].known)
        return l->cluster < 0 && (own || all_known(k));
    return own || hearthi_remote_gateway_is_up(&k->remote[c]);
}

/* It is told why, unless it is this job itself, or is called again. */
static bool
turn_away(struct hearthi_link *k, struct hearthi_connection *l,
          const char *why)
{
    bool own = l->cluster >= 0;

    if (!k->refused && !own)
        hearthi_link_warn(k,
                          "a connection from %s was refused, and the job "
                          "goes on: %s",
                          l->from, why);
    k->refused |= !own;
    if (!own)
        hearthi_connection_farewell(l, HEARTHI_FRAME_REFUSED, why, 0);
    return hearthi_connection_fail(l, HEARTHI_CONNECTION_GONE, "%s", why);
}

static bool
refuse(struct hearthi_link *k, struct hearthi_connection *l,
       const struct hearthi_gateway_hello *theirs, const char *why)
{
    struct hearthi_gateway_hello mine = hello_of(k, l, -1);

    if (!l->greeted)
        hearthi_connection_say_hello(l, &mine);
    if (goes_on_without(k, l, theirs))
        return turn_away(k, l, why);
    return hearthi_link_fail(k, theirs->cluster, "%s", why);
}

static bool
is_of_another_world(const struct hearthi_link          *k,
                    const struct hearthi_connection    *l,
                    const struct hearthi_gateway_hello *h)
{
    const struct hearthi_remote_gateway *m;

    if (h->cluster < 0 || h->cluster >= k->conf->n || h->cluster == k->me ||
        (l->cluster >= 0 && h->cluster != l->cluster))
        return false;
    m = &k->remote[h->cluster];
    if (m->known && m->job == h->job)
        return false;
    return h->got > 0 || (m->known && m->bye_came);
}

static bool
pass_by(struct hearthi_link *k, struct hearthi_connection *l,
        const struct hearthi_gateway_hello *theirs)
{
    struct hearthi_remote_gateway *m = &k->remote[theirs->cluster];
    struct hearthi_gateway_hello   mine = hello_of(k, l, theirs->cluster);

    if (!l->greeted)
        hearthi_connection_say_hello(l, &mine);
    if (m->bye_sent && m->bye_came)
        m->left = true;
    return hearthi_connection_fail(
        l, HEARTHI_CONNECTION_GONE,
        "the job there is not of this world yet, or not "
        "any more");
}

/* The connection is of this remote gateway from now on. */
static bool
connection_join(struct hearthi_link *k, struct hearthi_connection *l,
                const struct hearthi_gateway_hello *theirs)
{
    struct hearthi_remote_gateway *m = &k->remote[theirs->cluster];
    bool                           first = !m->known;

    m->known = true;
    m->job = theirs->job;
    if (!hearthi_remote_gateway_lane_up(k, l, theirs->got))
        return false;
    if (first && k->calls.up != NULL)
        k->calls.up(k->arg, l->cluster, theirs->tell);
    return !k->over;
}

bool
hearthi_handshake_hello(struct hearthi_connection    *l,
                        struct hearthi_gateway_hello *theirs)
{
    struct hearthi_link         *k = l->owner;
    struct hearthi_gateway_hello mine = hello_of(k, l, -1);
    struct hearthi_link_error    wrong;

    if (is_of_another_world(k, l, theirs))
        return pass_by(k, l, theirs);
    if (!hearthi_gateway_hello_agree(&mine, theirs, &wrong) ||
        !name_fits(k, l, theirs, &wrong) || !job_fits(k, l, theirs, &wrong))
        return refuse(k, l, theirs, wrong.text);
    if (theirs->got > k->remote[theirs->cluster].post.given)
        return hearthi_connection_fail(l, HEARTHI_CONNECTION_BROKEN,
                                       "it has what was not sent");
    if (l->cluster < 0 && !guest_take(k, l, theirs))
        return false;
    return connection_join(k, l, theirs);
}
