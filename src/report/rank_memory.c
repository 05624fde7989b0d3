/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What memory a rank has taken.  Frames of copies and twins are never given
 * back, so that as many as there are is the most that there were.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/descriptor.h"
#include "home/home.h"
#include "malloc/central_freelist.h"
#include "page/diffs.h"
#include "page/frames.h"
#include "part.h"
#include "space/heap.h"

/* A line such as "VmHWM:    1234 kB". */
static void
status_take(const char *line, const char *name, uint64_t *bytes)
{
    size_t n = strlen(name);

    if (strncmp(line, name, n) == 0 &&
        sscanf(line + n, "%" SCNu64, bytes) == 1)
        *bytes *= 1024;
}

void
hearthi_rank_memory_take(struct hearthi_rank_memory *to)
{
    FILE *status = hearthi_file_to_read("/proc/self/status");
    struct hearthi_freelist_counts objects;
    char                           line[256];

    hearthi_freelists_count(&objects);
    *to = (struct hearthi_rank_memory){
        .home = hearthi_home_most() << hearthi_heap.shift,
        .objects = objects.carved_bytes,
        .copies = hearthi_frames.used << hearthi_heap.shift,
        .copies_bound = hearthi_frames.bound << hearthi_heap.shift,
        .twins = hearthi_twins_most() << hearthi_heap.shift,
    };
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        status_take(line, "VmHWM:", &to->process);
        status_take(line, "VmPTE:", &to->tables);
    }
    if (status != NULL)
        fclose(status);
}

const char *
hearthi_rank_memory_bound(const struct hearthi_rank_memory *m,
                          const hearth_stats               *s)
{
    return s->evictions > 0 && m->copies >= m->copies_bound ? "HEARTH_CACHE"
                                                            : NULL;
}
