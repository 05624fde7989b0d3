/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Places of the program that synchronise, each with a number.
 */
#include "config.h"

#include "race_history.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mutex.h"
#include "base/report.h"
#include "profile/caller.h"

static struct {
    struct hearthi_race_place *place;
    uintptr_t                 *at;
    size_t                     n;
    uint64_t                   lacked;
} p;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void
hearthi_race_places_open(void)
{
    p.place = calloc(HEARTHI_RACE_PLACES, sizeof *p.place);
    p.at = calloc(HEARTHI_RACE_PLACES, sizeof *p.at);
    if (p.place == NULL || p.at == NULL)
        hearthi_fatal("hearth_init", "no memory");
    p.n = 1; /* the first is none */
    hearthi_caller_open();
}

void
hearthi_race_places_close(void)
{
    free(p.place);
    free(p.at);
    memset(&p, 0, sizeof p);
}

static void
place_note(struct hearthi_race_place *to, uintptr_t at)
{
    const char *path = hearthi_caller_module(at, &to->offset);

    if (path != NULL)
        hearthi_caller_path_keep(to->path, sizeof to->path, path);
}

static unsigned
place_of(uintptr_t at)
{
    size_t i = 1;

    while (i < p.n && p.at[i] != at)
        i++;
    if (i == HEARTHI_RACE_PLACES) {
        p.lacked++;
        return 0;
    }
    if (i == p.n) {
        p.at[i] = at;
        place_note(&p.place[i], at);
        p.n++;
    }
    return (unsigned)i;
}

unsigned
hearthi_race_place_here(void)
{
    uintptr_t at = hearthi_caller_here();
    unsigned  i;

    if (at == 0)
        return 0;
    hearthi_mutex_lock(&mutex, HEARTHI_MUTEX_RACE_PLACES);
    i = place_of(at);
    hearthi_mutex_unlock(&mutex, HEARTHI_MUTEX_RACE_PLACES);
    return i;
}

uint64_t
hearthi_race_places_lacked(void)
{
    uint64_t n;

    hearthi_mutex_lock(&mutex, HEARTHI_MUTEX_RACE_PLACES);
    n = p.lacked;
    p.lacked = 0;
    hearthi_mutex_unlock(&mutex, HEARTHI_MUTEX_RACE_PLACES);
    return n;
}

size_t
hearthi_race_places(const struct hearthi_race_place **place)
{
    *place = p.place;
    return p.n;
}
