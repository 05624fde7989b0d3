/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Epochs: who has custody of what between two barriers, and what everybody
 * does meanwhile.  What concerns all ranks is drawn from the world's key, what
 * one rank does by itself from its own sequence.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "scene.h"
#include "watch.h"

static uint64_t
epoch_key(const struct world *w)
{
    return mix(w->key, 1000 + (uint64_t)w->epoch);
}

static enum custody
custody_draw(const struct world *w, uint64_t *random)
{
    switch (draw(random, 10)) {
    case 0:
    case 1: return OF_RANK;
    case 2: return READ_ONLY;
    case 3: return w->chains < CHAINS ? IN_CHAIN : UNDER_LOCK;
    case 4:
    case 5: return !w->scope && w->roamers < ROAMERS ? ROAMING : UNDER_LOCK;
    default: return UNDER_LOCK;
    }
}

static void
custody_assign(struct world *w, struct object *o, uint64_t *random)
{
    o->custody = o->slot % OBJECTS == 0 ? READ_ONLY : custody_draw(w, random);
    o->thread = 0;
    switch (o->custody) {
    case OF_RANK:
        o->keeper = (int)draw(random, (uint64_t)w->ranks);
        if (w->threads)
            o->thread = (int)draw(random, THREADS + 1);
        break;
    case IN_CHAIN:
        o->keeper = w->chains;
        w->chain[w->chains++] = o;
        break;
    case ROAMING:
        o->keeper = w->roamers;
        w->roamer[w->roamers++] = o;
        break;
    case READ_ONLY: o->keeper = 0; break;
    case UNDER_LOCK: o->keeper = (int)draw(random, (uint64_t)w->locks); break;
    }
}

/* Roamers begin under some lock; one rank writes down for each lock which are
 * there.  A barrier follows. */
static void
roamers_place(struct world *w, uint64_t random)
{
    uint64_t present[LOCKS] = { 0 };

    for (int k = 0; k < w->roamers; k++)
        present[draw(&random, (uint64_t)w->locks)] |= (uint64_t)1 << k;
    for (int l = 0; l < w->locks; l++) {
        if (l % w->ranks != w->me)
            continue;
        *present_word(w, l) = (int64_t)present[l];
        if (oracle != NULL)
            oracle->present[l] = present[l];
    }
}

static void
custody_deal(struct world *w)
{
    uint64_t random = epoch_key(w);

    w->roamers = w->chains = 0;
    for (int i = 0; i < ARENAS; i++)
        for (int k = 0; w->arena[i].base != NULL && k < OBJECTS; k++)
            custody_assign(w, &w->arena[i].object[k], &random);
    roamers_place(w, random);
}

/* A thread that has objects of its own touches them until it is told to
 * stop, whatever the main thread does with the same pages. */
struct helper {
    struct actor actor;
    pthread_t    thread;
    _Atomic bool stop;
};

static void *
helper_run(void *p)
{
    struct helper *h = p;

    world_delay(h->actor.w, h->actor.thread);
    while (!h->stop)
        step_thread(&h->actor);
    return NULL;
}

static void
helpers_start(struct world *w, struct helper *helpers)
{
    for (int i = 0; w->threads && i < THREADS; i++) {
        actor_start(&helpers[i].actor, w, i + 1);
        helpers[i].stop = false;
        if (pthread_create(&helpers[i].thread, NULL, helper_run,
                           &helpers[i]) != 0)
            abort();
    }
}

static void
helpers_stop(const struct world *w, struct helper *helpers)
{
    for (int i = 0; w->threads && i < THREADS; i++)
        helpers[i].stop = true;
    for (int i = 0; w->threads && i < THREADS; i++)
        pthread_join(helpers[i].thread, NULL);
}

/* Links of all chains in one order, the same everywhere: link 0 of each
 * chain, then link 1, ...; a rank that keeps this order can never wait for a
 * rank that waits for it. */
struct links {
    int next, end;
};

/* Do our next link, if there is one. */
static bool
links_go_on(struct actor *a, struct links *links)
{
    const struct world *w = a->w;

    for (; links->next < links->end; links->next++) {
        int chain = links->next % w->chains, link = links->next / w->chains;

        if (chain_rank(w, chain, link) != w->me)
            continue;
        step_chain(a, chain, link);
        links->next++;
        return true;
    }
    return false;
}

/* Flags of the epoch before last are set no more and waited for no more. */
static void
flags_reset(const struct world *w)
{
    int half = HEARTH_FLAGS / 2;
    int first = (w->epoch + 1) % 2 * half;

    for (int f = w->me; f < half; f += w->ranks)
        if (f < 16 * CHAINS)
            hearth_flag_reset(first + f);
}

void
epoch_run(struct world *w)
{
    static const uint64_t lengths[] = { 2, 8, 30, 90 };
    struct actor          a;
    struct helper         helpers[THREADS];
    struct links          links;
    uint64_t              steps, random;

    watch_at("steps");
    custody_deal(w);
    hearth_barrier();
    flags_reset(w);
    actor_start(&a, w, 0);
    random = mix(epoch_key(w), (uint64_t)w->me);
    steps = draw(&random, lengths[draw(&random, 4)]);
    links.next = 0;
    links.end = w->chains * (2 + (int)(epoch_key(w) % 8));
    helpers_start(w, helpers);
    for (; steps > 0; steps--) {
        step_any(&a);
        if (draw(&random, 4) == 0)
            links_go_on(&a, &links);
    }
    while (links_go_on(&a, &links))
        continue;
    scenes_play(&a, epoch_key(w));
    watch_at("the end of an epoch");
    helpers_stop(w, helpers);
    hearth_barrier();
}
