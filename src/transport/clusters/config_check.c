/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "clusters.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/option.h"
#include "base/option_type.h"
#include "base/report.h"
#include "cluster.h"
#include "world.h"

const char *
hearthi_config_text(void)
{
    static char text[256];
    char        heap[32];

    snprintf(heap, sizeof heap, "%s", hearthi_option_text("heap"));
    snprintf(text, sizeof text,
             "HEARTH_HEAP=%s\nHEARTH_CONSISTENCY=%s\nHEARTH_LOCKS=%zu", heap,
             hearthi_option_text("consistency"), hearthi_opt.locks);
    return text;
}

/* ---- the page size ---- */

/* What a cluster's system has, and what is given there, or 0. */
struct pages {
    size_t system, given;
};

static size_t
page_of(const struct pages *p)
{
    return p->given > p->system ? p->given : p->system;
}

static void
pages_name(const struct pages *p, char *text, size_t room)
{
    size_t bytes = page_of(p);
    char   size[32];

    hearthi_type_of_size.print(&hearthi_type_of_size, &bytes, size,
                               sizeof size);
    snprintf(text, room, "%s%s",
             p->given != 0 ? "HEARTH_PAGE_SIZE=" : "system pages of ", size);
}

/* A rank of each of the two says it. */
static void
pages_differ(const struct hearthi_conf *conf, const struct pages *all, int a,
             int b)
{
    const struct hearthi_member *x = &conf->cluster[a], *y = &conf->cluster[b];
    char                         of_x[64], of_y[64];

    if (hearthi_world.rank != x->first && hearthi_world.rank != y->first)
        hearthi_end_wait();
    pages_name(&all[x->first], of_x, sizeof of_x);
    pages_name(&all[y->first], of_y, sizeof of_y);
    hearthi_fatal("hearth_init",
                  "clusters %s and %s differ: %s has %s; %s has %s: give "
                  "all clusters the same HEARTH_PAGE_SIZE, as much as the "
                  "largest system page",
                  x->name, y->name, x->name, of_x, y->name, of_y);
}

void
hearthi_config_page_size(const struct hearthi_conf *conf)
{
    struct pages  mine = { (size_t)hearthi_cluster.system_page,
                           hearthi_opt.page_size };
    struct pages *all = calloc((size_t)conf->ranks, sizeof *all);
    size_t        page;
    int           most = 0;

    if (all == NULL)
        hearthi_fatal("hearth_init", "no memory for %d ranks", conf->ranks);
    hearthi_world.gather(&mine, sizeof mine, all);
    for (int i = 0; i < conf->n; i++)
        if (page_of(&all[conf->cluster[i].first]) >
            page_of(&all[conf->cluster[most].first]))
            most = i;
    page = page_of(&all[conf->cluster[most].first]);
    for (int i = 0; i < conf->n; i++) {
        size_t given = all[conf->cluster[i].first].given;

        if (given != 0 && given != page)
            pages_differ(conf, all, i, most);
    }
    free(all);
    hearthi_opt.page_size = page;
}
