/* SPDX-License-Identifier: BSD-2-Clause */
#include "scene.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "watch.h"

struct scene {
    const char *name;
    void (*play)(struct stage *s);
    bool needs_threads;
};

static const struct scene scenes[] = {
    { "fresh", scene_fresh, false },   { "flags", scene_flags, false },
    { "tries", scene_tries, false },   { "words", scene_words, false },
    { "cancel", scene_cancel, true },  { "quiet", scene_quiet, true },
    { "beside", scene_beside, true },  { "messages", scene_messages, false },
    { "stay", scene_stay, false },     { "rwlock", scene_rwlock, false },
    { "conds", scene_conds, false },   { "crowd", scene_crowd, true },
    { "halves", scene_halves, false }, { "inside", scene_inside, true },
    { "names", scene_names, false },   { "teams", scene_teams, false },
};

enum { SCENES = sizeof scenes / sizeof *scenes, SCENE_SECONDS = 2 };

static const char *chosen; /* NULL: all */

void
scenes_choose(const char *names)
{
    chosen = names;
}

static bool
is_chosen(const struct world *w, const struct scene *scene)
{
    const char *p = chosen == NULL ? NULL : strstr(chosen, scene->name);

    return (chosen == NULL || p != NULL) &&
           (!scene->needs_threads || w->multiple);
}

/* Now and then one; if some are asked for, several of those. */
void
scenes_play(struct actor *a, uint64_t key)
{
    struct stage s = { a, a->w, mix(key, 31) };
    uint64_t     n = chosen == NULL ? draw(&s.random, 3) : 3;

    for (; n > 0; n--) {
        const struct scene *scene = &scenes[draw(&s.random, SCENES)];

        if (chosen != NULL)
            for (int i = 0; i < SCENES && !is_chosen(a->w, scene); i++)
                scene = &scenes[(scene - scenes + 1) % SCENES];
        if (!is_chosen(a->w, scene))
            continue;
        watch_at(scene->name);
        scene->play(&s);
        watch_step();
        tally_add(TALLY_SCENES, a->w->me == 0);
    }
}

struct yard
yard_make(struct stage *s, size_t pages, hearth_layout layout)
{
    struct yard y = { NULL, pages * PAGE_WORDS, draw(&s->random, UINT64_MAX),
                      layout };

    y.word = hearth_alloc(y.words, sizeof *y.word, layout);
    if (draw(&s->a->random, 8) == 0)
        hearth_read_mostly(y.word, (1 + draw(&s->a->random, y.words)) *
                                       sizeof *y.word);
    tally_add(TALLY_ALLOCS, 1);
    watch_step();
    return y;
}

void
yard_drop(struct yard *y)
{
    hearth_free(y->word);
    y->word = NULL;
    watch_step();
}

struct part
yard_all(const struct yard *y)
{
    struct part all = { 0, 1, y->words };

    return all;
}

/* What the words are made of. */
static uint64_t
version_key(const struct yard *y, uint64_t version)
{
    return mix(y->key, version) | 1;
}

static uint64_t
word_value(uint64_t key, uint64_t version, size_t i)
{
    return version == 0 ? 0 : key * (2 * (uint64_t)i + 1);
}

void
yard_write(const struct yard *y, struct part part, uint64_t version)
{
    const uint64_t     key = version_key(y, version);
    volatile uint64_t *word = y->word;

    for (size_t i = part.first; i < part.end; i += part.step) {
        if (i % PAGE_WORDS < part.step)
            watch_alive();
        word[i] = word_value(key, version, i);
    }
}

size_t
yard_wrong(const struct yard *y, struct part part, uint64_t version)
{
    const uint64_t           key = version_key(y, version);
    const volatile uint64_t *word = y->word;

    for (size_t i = part.first; i < part.end; i += part.step) {
        if (i % PAGE_WORDS < part.step)
            watch_alive(); /* each page may have to come from afar */
        if (word[i] != word_value(key, version, i))
            return i;
    }
    return part.end;
}

/* Which version it is instead. */
static const char *
version_text(const struct yard *y, size_t i, uint64_t version, char *text,
             size_t room)
{
    uint64_t found = y->word[i];

    for (uint64_t v = 0; v <= version + 1; v++)
        if (found == word_value(version_key(y, v), v, i)) {
            snprintf(text, room, "that of version %llu",
                     (unsigned long long)v);
            return text;
        }
    return "of no version";
}

void
yard_check(struct stage *s, const struct yard *y, struct part part,
           uint64_t version)
{
    size_t      i = yard_wrong(y, part, version), wrong = 0;
    char        text[40];
    struct part rest = part;

    if (part.first < part.end)
        tally_add(TALLY_CHECKED,
                  (part.end - part.first + part.step - 1) / part.step);
    if (i >= part.end)
        return;
    for (rest.first = i; rest.first < part.end; wrong++) {
        rest.first = yard_wrong(y, rest, version);
        rest.first += part.step;
    }
    world_fail(s->a,
               "word %zu (page %zu, home %d) of a yard of %zu pages is 0x%llx,"
               " %s, not version %llu; at least %zu words are wrong",
               i, i / PAGE_WORDS, hearth_home(&y->word[i]),
               y->words / PAGE_WORDS, (unsigned long long)y->word[i],
               version_text(y, i, version, text, sizeof text),
               (unsigned long long)version, wrong);
}

bool
scene_has_time(double start)
{
    int more = MPI_Wtime() - start < SCENE_SECONDS;

    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return more;
}

void
scene_nap(struct stage *s)
{
    if (draw(&s->a->random, 2) == 0)
        actor_nap(s->a);
}
