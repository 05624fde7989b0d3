/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Who waits for what, as one line tells it.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "transport/lock_key.h"
#include "wait_graph.h"

struct line {
    char  *at;
    size_t left;
};

__attribute__((format(printf, 2, 3))) static void
line_add(struct line *l, const char *fmt, ...)
{
    va_list ap;
    int     n;

    va_start(ap, fmt);
    n = vsnprintf(l->at, l->left, fmt, ap);
    va_end(ap);
    if (n < 0)
        return;
    if ((size_t)n >= l->left)
        n = (int)l->left - 1;
    l->at += n;
    l->left -= (size_t)n;
}

/* ---- ranks ---- */

typedef bool (*chooser)(const struct hearthi_thread_wait *w,
                        const struct hearthi_thread_wait *with);

/* "rank 3", "ranks 1, 2, 5, 7 and 9 more": of those that belong to one.  How
 * many. */
static size_t
ranks_add(struct line *l, const struct hearthi_waits *g,
          const struct hearthi_thread_wait *with, chooser is)
{
    enum { MOST = 4 };
    size_t all = 0, n = 0;

    for (size_t i = 0; i < g->n; i++)
        all += is(&g->wait[i], with);
    line_add(l, all == 1 ? "rank" : "ranks");
    for (size_t i = 0; i < g->n && n < MOST; i++)
        if (is(&g->wait[i], with)) {
            n++;
            line_add(l, "%s %d",
                     n == 1                    ? ""
                     : n == all && all <= MOST ? " and"
                                               : ",",
                     (int)g->wait[i].rank);
        }
    if (all > MOST)
        line_add(l, " and %zu more", all - MOST);
    return all;
}

static void
who_add(struct line *l, const struct hearthi_thread_wait *w)
{
    line_add(l, "rank %d", (int)w->rank);
    if (w->many && w->thread != 0)
        line_add(l, " (thread %d)", (int)w->thread);
}

static bool
is_same(const struct hearthi_thread_wait *w,
        const struct hearthi_thread_wait *with)
{
    if (with->kind == HEARTHI_WAIT_ALL)
        return w->kind == with->kind && w->what == with->what;
    return w == with;
}

/* Was it told together with one before it? */
static bool
is_told(const struct hearthi_waits *g, const struct hearthi_thread_wait *w)
{
    for (const struct hearthi_thread_wait *before = g->wait; before < w;
         before++)
        if (is_same(before, w))
            return true;
    return false;
}

/* ---- what it waits for ---- */

static const struct hearthi_thread_wait *
holder_of(const struct hearthi_waits *g, const struct hearthi_thread_wait *w)
{
    const struct hearthi_thread_wait *has;

    if (w->kind == HEARTHI_WAIT_LOCK)
        return hearthi_waits_find(g, HEARTHI_HAS_LOCK, w->what);
    has = hearthi_waits_find(g, HEARTHI_HAS_WRITE, w->what);
    return has != NULL ? has
                       : hearthi_waits_find(g, HEARTHI_HAS_READ, w->what);
}

/* "hearth_lock (2) at main.c:80", and what follows. */
static void
call_add(struct line *l, const struct hearthi_thread_wait *w, const char *name)
{
    line_add(l, "%s%s%s%s%s%s", w->call, name[0] == '\0' ? "" : " (", name,
             name[0] == '\0' ? "" : ")", w->place[0] == '\0' ? "" : " at ",
             w->place);
}

static void
number_add(struct line *l, const struct hearthi_thread_wait *w)
{
    char number[24];

    snprintf(number, sizeof number, "%llu", (unsigned long long)w->what);
    call_add(l, w, number);
}

static void
lock_add(struct line *l, const struct hearthi_waits *g,
         const struct hearthi_thread_wait *w)
{
    const struct hearthi_thread_wait *holder = holder_of(g, w);
    char                              name[HEARTHI_LOCK_KEY_TEXT];

    if (w->kind != HEARTHI_WAIT_LOCK) {
        number_add(l, w);
    } else {
        hearthi_lock_key_text(w->what, name, sizeof name);
        call_add(l, w, name);
    }
    line_add(l, ", which ");
    if (holder == NULL)
        line_add(l, "no rank");
    else
        who_add(l, holder);
    line_add(l, " has");
}

static void
missed_add(struct line *l, const struct hearthi_waits *g,
           const struct hearthi_thread_wait *w)
{
    size_t n;

    call_add(l, w, "");
    line_add(l, ", to which ");
    n = ranks_add(l, g, w, hearthi_wait_is_missed);
    line_add(l, n == 1 ? " does not come" : " do not come");
}

static void
mpi_add(struct line *l, const struct hearthi_waits *g,
        const struct hearthi_thread_wait *w)
{
    if (w->peer == HEARTHI_PEER_EACH) {
        missed_add(l, g, w);
        return;
    }
    call_add(l, w, "");
    if (w->peer == HEARTHI_PEER_ANY)
        line_add(l, " for another rank");
    else
        line_add(l, " for rank %d", (int)w->peer);
}

static void
what_add(struct line *l, const struct hearthi_waits *g,
         const struct hearthi_thread_wait *w)
{
    switch (w->kind) {
    case HEARTHI_WAIT_LOCK:
    case HEARTHI_WAIT_READ:
    case HEARTHI_WAIT_WRITE: lock_add(l, g, w); break;
    case HEARTHI_WAIT_FLAG:
        number_add(l, w);
        line_add(l, ", which no rank sets");
        break;
    case HEARTHI_WAIT_COND:
        number_add(l, w);
        line_add(l, ", which no rank signals");
        break;
    case HEARTHI_WAIT_ALL: missed_add(l, g, w); break;
    case HEARTHI_WAIT_MPI: mpi_add(l, g, w); break;
    default: call_add(l, w, ""); line_add(l, ", which no rank ends");
    }
}

static void
wait_add(struct line *l, const struct hearthi_waits *g,
         const struct hearthi_thread_wait *w)
{
    if (w->kind == HEARTHI_WAIT_ALL)
        ranks_add(l, g, w, is_same);
    else
        who_add(l, w);
    line_add(l, " in ");
    what_add(l, g, w);
}

/* Those in calls that all ranks make are told last: they are the many. */
void
hearthi_waits_text(const struct hearthi_waits *g, char *text, size_t room)
{
    enum { NEEDED = 200 }; /* for one of them, and for the number of others */
    struct line l = { text, room };
    size_t      left = 0;

    text[0] = '\0';
    for (int last = 0; last < 2; last++)
        for (size_t i = 0; i < g->n; i++) {
            const struct hearthi_thread_wait *w = &g->wait[i];

            if (!hearthi_wait_is(w) || (w->kind == HEARTHI_WAIT_ALL) != last ||
                is_told(g, w))
                continue;
            if (l.left < NEEDED) {
                left++;
                continue;
            }
            line_add(&l, l.at == text ? "" : "; ");
            wait_add(&l, g, w);
        }
    if (left > 0)
        line_add(&l, "; and %zu more", left);
}

const char *
hearthi_waits_remedy(const struct hearthi_waits *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->wait[i].kind >= HEARTHI_WAIT_LOCK &&
            g->wait[i].kind <= HEARTHI_WAIT_WRITE)
            return "take locks in the same order on every rank, and hold none "
                   "while you wait for a rank that takes it";
    return "let one of them do what the others wait for before it waits "
           "itself";
}
