/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What memory a rank has taken.  Frames of copies count as long as the job
 * runs: as many as there are is the most that there were.
 */
#include "config.h"

#include <stdlib.h>

#include "base/descriptor.h"
#include "home/home.h"
#include "malloc/central_freelist.h"
#include "page/frames.h"
#include "page/twins.h"
#include "part.h"
#include "space/heap.h"

/* Of a line such as "VmHWM:    1234 kB". */
static uint64_t
kernel_bytes(const char *file, const char *name)
{
    char text[HEARTHI_LINE];

    return hearthi_file_line(file, name, text)
               ? strtoull(text, NULL, 10) * 1024
               : 0;
}

void
hearthi_rank_memory_take(struct hearthi_rank_memory *to)
{
    struct hearthi_freelist_counts objects;

    hearthi_freelists_count(&objects);
    *to = (struct hearthi_rank_memory){
        .home = hearthi_home_most() << hearthi_heap.shift,
        .objects = objects.carved_bytes,
        .copies = hearthi_frames.used << hearthi_heap.shift,
        .copies_bound = hearthi_frames.bound << hearthi_heap.shift,
        .twins = hearthi_twins.most << hearthi_heap.shift,
        .process = kernel_bytes("/proc/self/status", "VmHWM:"),
        .tables = kernel_bytes("/proc/self/status", "VmPTE:"),
        .proportional = kernel_bytes("/proc/self/smaps_rollup", "Pss:"),
    };
}

const char *
hearthi_rank_memory_bound(const struct hearthi_rank_memory *m,
                          const hearth_stats               *s)
{
    return s->evictions > 0 && m->copies >= m->copies_bound ? "HEARTH_CACHE"
                                                            : NULL;
}
