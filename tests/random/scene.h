/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Scenes: what all ranks play together within an epoch, while the other
 * threads go on with objects of their own and under locks.  Each is a small
 * program without data races about one thing: allocation, flags with several
 * setters, tries, and so on.
 *
 * A scene has memory of its own, a *yard* of words of 8 bytes.  What a word
 * holds follows from the yard, a version, and the word's number; version 0 is
 * zero, as new memory is.
 */
#ifndef HEARTH_RANDOM_SCENE_H
#define HEARTH_RANDOM_SCENE_H

#include "random.h"

enum { PAGE_WORDS = 512 };

struct stage {
    struct actor *a; /* its draws are this rank's own */
    struct world *w;
    uint64_t      random; /* its draws are the same everywhere */
};

struct yard {
    uint64_t     *word;
    size_t        words;
    uint64_t      key;
    hearth_layout layout;
};

/* Words first, first + step, ... below end. */
struct part {
    size_t first, step, end;
};

/* Collective. */
struct yard yard_make(struct stage *s, size_t pages, hearth_layout layout);
void        yard_drop(struct yard *y);

struct part yard_all(const struct yard *y);
void yard_write(const struct yard *y, struct part part, uint64_t version);
/* Every word of the part holds this version, or the job ends. */
void yard_check(struct stage *s, const struct yard *y, struct part part,
                uint64_t version);
/* For those who may not end the job: the first word that does not hold it, or
 * `end`. */
size_t yard_wrong(const struct yard *y, struct part part, uint64_t version);

/* Collective: is there time for another round of a scene that began then (by
 * MPI_Wtime() of rank 0)?  Rounds may take a second where ranks and threads
 * share few cores. */
bool scene_has_time(double start);

/* Wait a little, or not. */
void scene_nap(struct stage *s);

/* Names of scenes with commas between them, from MPI_TEST_SCENES; NULL: all,
 * now and then.  "none" is none. */
void scenes_choose(const char *names);

/* Play some.  Collective. */
void scenes_play(struct actor *a, uint64_t key);

void scene_fresh(struct stage *s);    /* fresh.c */
void scene_flags(struct stage *s);    /* flags.c */
void scene_tries(struct stage *s);    /* tries.c */
void scene_words(struct stage *s);    /* words.c */
void scene_cancel(struct stage *s);   /* cancel.c */
void scene_quiet(struct stage *s);    /* quiet.c */
void scene_beside(struct stage *s);   /* beside.c */
void scene_messages(struct stage *s); /* messages.c */
void scene_stay(struct stage *s);     /* stay.c */
void scene_rwlock(struct stage *s);   /* rwlock.c */
void scene_conds(struct stage *s);    /* conds.c */
void scene_crowd(struct stage *s);    /* crowd.c */
void scene_halves(struct stage *s);   /* halves.c */
void scene_inside(struct stage *s);   /* inside.c */
void scene_names(struct stage *s);    /* names.c */
void scene_teams(struct stage *s);    /* teams.c */

#endif
