/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "init.h"

#include <stdlib.h>

#include "base/option.h"
#include "base/report.h"
#include "coherence/race_sync.h"
#include "hearth/hearth.h"
#include "report/race_report.h"

enum { STATUS_MOST = 255 };

static int status; /* of this process, or 0: what the program says */

static void
refuse_text(const char *name, const char *text)
{
    if (text[0] != '\0')
        hearthi_fatal("hearth_init",
                      "HEARTH_RACES=writes does not go with %s=%s: leave one "
                      "of the two out",
                      name, text);
}

/* Each rank a node: what it stores is then told from what others do by its
 * diffs.  Locks that stay, and pages that move, would leave intervals out. */
void
hearthi_races_options(void)
{
    struct hearthi_options *o = &hearthi_opt;

    if (o->races == HEARTHI_RACES_OFF)
        return;
    refuse_text("HEARTH_CLUSTERS", o->clusters.text);
    refuse_text("HEARTH_CHECKPOINT", o->checkpoint.text);
    refuse_text("HEARTH_RESTART", o->restart.text);
    if (o->races_exit > STATUS_MOST)
        hearthi_fatal("hearth_init",
                      "HEARTH_RACES_EXIT=%zu is more than %d: give 0 to %d",
                      o->races_exit, STATUS_MOST, STATUS_MOST);
    o->node_size = 1;
    o->lock_stay = false;
    o->home_stay = false;
    o->migrate = HEARTHI_WHEN_OFF;
}

void
hearthi_races_begin(void)
{
    if (hearthi_races == NULL)
        return;
    hearthi_race_report_open();
    hearthi_race_sync_open(hearth_alloc((size_t)hearthi_race_sync_words(),
                                        sizeof(uint64_t), hearth_cyclic(1)));
}

/* exit(3) in a handler of exit goes on with the handlers that are left, and
 * the process ends with this status (glibc). */
static void
exit_give(int given, void *unused)
{
    int own = status;

    (void)unused;
    status = 0;
    if (own != 0 && given == EXIT_SUCCESS)
        exit(own);
}

static void
status_set(void)
{
    if (status == 0)
        on_exit(exit_give, NULL);
    status = (int)hearthi_opt.races_exit;
}

void
hearthi_races_end(void)
{
    if (hearthi_races == NULL)
        return;
    hearthi_races_look();
    if (hearthi_race_report_end() > 0)
        status_set();
    hearthi_race_report_close();
    hearthi_race_sync_close();
}
