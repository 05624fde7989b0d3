/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The thread that moves the page, and the walk.
 */
#include "move.h"

#include <string.h>

static const char *const rules[] = {
    "--no-flush",     "--no-look",       "--no-note",         "--no-vote",
    "--no-done",      "--untracked",     "--keep-registered", "--keep-missed",
    "--freeze-steps", "--freeze-coming", "--lend-frozen",     "--mates",
    "--renew",        "--renew-shared",  "--clear-late",      NULL
};

/* ---- the thread that moves ---- */

static bool
freeze(struct state *s, int me)
{
    struct rank *r = &s->rank[me];

    if (r->moving != BEFORE || (r->stepping && !broken(FREEZE_STEPS)) ||
        (r->view == COMING && !broken(FREEZE_COMING)))
        return false;
    if (r->view == DIRTY && broken(NO_FLUSH))
        r->view = CLEAN;
    if (r->view == DIRTY)
        diff_send(s, r);
    r->was = r->view;
    r->view = FROZEN;
    if (!broken(LEND_FROZEN))
        r->lent = 0;
    r->missed = 0;
    if (r->was >= HOME_OPEN && r->was <= HOME_DIRTY) {
        if (!broken(NO_LOOK))
            flags_look(s, r);
        if (r->was == HOME_DIRTY)
            r->listed = 1;
        if (broken(NO_NOTE))
            r->listed = 0;
    }
    s->shared |= me != asker() && r->was == CLEAN;
    r->moving = VOTED;
    return true;
}

/* As what is held does, or is on its way. */
static bool
refuse(struct state *s, int me)
{
    if (s->rank[me].moving != BEFORE || broken(MATES))
        return false;
    s->refused = 1;
    s->rank[me].moving = VOTED;
    return true;
}

static bool
have_all_voted(const struct state *s)
{
    for (int i = 0; i < ranks(); i++)
        if (s->rank[i].moving == BEFORE)
            return false;
    return true;
}

static bool
becomes_new(const struct state *s)
{
    return !s->shared || broken(RENEW_SHARED);
}

static bool
bring(struct state *s, int me)
{
    struct rank *r = &s->rank[me];

    if (me != asker() || r->moving != VOTED || s->refused ||
        !(have_all_voted(s) || broken(NO_VOTE)))
        return false;
    r->moving = BROUGHT;
    if (broken(RENEW)) {
        if (becomes_new(s) && !broken(CLEAR_LATE))
            s->flag[OLD] = 0;
        return true;
    }
    s->byte[NEW] = s->byte[OLD];
    s->count[NEW] = s->count[OLD];
    return true;
}

static uint8_t
home_view(const struct rank *r)
{
    return !r->tracked ? HOME_OPEN : r->listed ? HOME_DIRTY : HOME_ARMED;
}

static uint8_t
copy_view(const struct rank *r)
{
    return r->was == CLEAN && !r->missed ? CLEAN : INVALID;
}

static void
thaw_stayed(struct rank *r)
{
    if (r->view != FROZEN) /* it refused */
        return;
    r->view = r->was >= HOME_OPEN ? home_view(r) : copy_view(r);
}

/* The old frame belongs to another page then. */
static void
thaw_moved(struct state *s, int me)
{
    struct rank *r = &s->rank[me];

    r->home = NEW;
    r->tracked = 0;
    if (!s->shared && !broken(KEEP_REGISTERED))
        r->registered = 0;
    r->view = copy_view(r);
    if (me == OLD)
        s->byte[OLD] = s->count[OLD] = POISON;
    if (me != NEW)
        return;
    r->registered = 0;
    r->tracked = s->shared && !broken(UNTRACKED);
    r->view = r->tracked ? HOME_ARMED : HOME_OPEN;
}

static void
thaw_renewed(struct state *s, int me)
{
    struct rank *r = &s->rank[me];

    if (!broken(KEEP_REGISTERED))
        r->registered = 0;
    r->tracked = 0;
    r->view = me == OLD ? HOME_OPEN : copy_view(r);
    if (me == OLD && broken(CLEAR_LATE))
        s->flag[OLD] = 0;
}

static bool
thaw(struct state *s, int me)
{
    struct rank *r = &s->rank[me];

    if (r->moving == AFTER || !have_all_voted(s))
        return false;
    if (!s->refused && s->rank[asker()].moving < BROUGHT && !broken(NO_DONE))
        return false;
    if (!s->refused && me == asker() && r->moving != BROUGHT)
        return false;
    if (s->refused || (broken(RENEW) && !becomes_new(s)))
        thaw_stayed(r);
    else if (broken(RENEW))
        thaw_renewed(s, me);
    else
        thaw_moved(s, me);
    r->moving = AFTER;
    return true;
}

/* ---- the walk ---- */

enum { CHOICES = 13 };

/* What nobody looks at any more is the same everywhere. */
static void
forget(struct rank *r)
{
    if (!r->lent && r->view != COMING)
        r->fresh = 0;
    if (!is_copy(r) && (r->view != FROZEN || r->was != CLEAN || r->missed))
        r->value = 0;
    if (!r->waits)
        r->from = r->got = 0;
    if (!r->stepping)
        r->at = 0;
    if (r->view != FROZEN)
        r->was = r->missed = 0;
}

static bool
take(struct state *s, int me, int choice)
{
    switch (choice) {
    case 0: return use_acquire(s, me);
    case 1: return use_touch(s, me);
    case 2: return use_store(s, me);
    case 3: return use_release(s, me);
    case 4: return use_land(s, me, GET);
    case 5: return use_land(s, me, FLAG);
    case 6: return use_step_begin(s, me);
    case 7: return use_step_end(s, me);
    case 8: return freeze(s, me);
    case 9: return refuse(s, me);
    case 10: return bring(s, me);
    case 11: return use_take(s, me);
    default: return thaw(s, me);
    }
}

static bool
step(void *state, int me, int choice)
{
    struct state *s = state;

    if (me >= ranks() || !take(s, me, choice))
        return false;
    forget(&s->rank[me]);
    return true;
}

static bool
is_end(const void *state)
{
    const struct state *s = state;

    for (int i = 0; i < ranks(); i++)
        if (s->rank[i].moving != AFTER)
            return false;
    return true;
}

static const char *
fault(const void *state)
{
    const struct state *s = state;

    if (s->wrong)
        return "an old value is read where a new one happens before";
    if (is_end(s) && s->count[s->rank[OLD].home] != s->done)
        return "an atomic step is lost";
    return NULL;
}

int
main(int argc, char **argv)
{
    struct state        s;
    const struct search m = { .size = sizeof s,
                              .actors = RANKS,
                              .choices = CHOICES,
                              .step = step,
                              .fault = fault,
                              .is_end = is_end,
                              .rule = rules };

    memset(&s, 0, sizeof s);
    s.byte[NEW] = s.count[NEW] = POISON;
    s.holder = RANKS;
    s.rank[OLD].view = HOME_OPEN;
    return search_main(argc, argv, &m, &s);
}
