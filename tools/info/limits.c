/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Bounds, what is beyond each, and the tests that show it (src/limit.def).
 */
#include "config.h"

#include "info.h"

#include <hearth/Tmk.h>
#include <hearth/hearth.h>
#include <hearth/jia.h>
#include <inttypes.h>
#include <stdint.h>

#include "base/network.h"
#include "base/option.h"
#include "checkpoint/image.h"
#include "coherence/migrate_request.h"
#include "jia/jia_start.h"
#include "link/conf.h"
#include "link/gateway_hello.h"
#include "link/link.h"
#include "malloc/arena_map.h"
#include "page/node_tag.h"
#include "page/overwrite.h"
#include "page/read_mostly.h"
#include "parmacs/parmacs_private.h"
#include "parmacs/parmacs_program.h"
#include "profile/allocations.h"
#include "profile/caller.h"
#include "profile/profile.h"
#include "races/race_history.h"
#include "report/merged.h"
#include "report/part.h"
#include "report/race_report.h"
#include "space/foreign.h"
#include "space/segment.h"
#include "transport/clusters/wan_message.h"
#include "transport/log.h"
#include "transport/mpi/mpi_fabric.h"
#include "transport/mpi/rma_object.h"
#include "transport/mpi/wait_slot.h"
#include "transport/patch.h"
#include "transport/transport.h"
#include "transport/udp/wire.h"

static const struct limit {
    uint64_t    value;
    const char *what, *beyond, *test_up_to, *test_beyond;
} limits[] = {
#define LIMIT(value, what, beyond, test_up_to, test_beyond) \
    { (value), what, beyond, test_up_to, test_beyond },
#include "limit.def"
#undef LIMIT
};

#define N_LIMITS (sizeof limits / sizeof *limits)

void
info_limits_print(void)
{
    printf("Limits: how many there may be, what happens beyond, and the tests "
           "that show it\n");
    for (const struct limit *l = limits; l < limits + N_LIMITS; l++)
        printf("  %-15" PRIu64 " %s\n"
               "                    beyond: %s\n"
               "                    test up to it: %s\n"
               "                    test beyond: %s\n",
               l->value, l->what, l->beyond, l->test_up_to, l->test_beyond);
}

void
info_limits_man(void)
{
    printf(".SH LIMITS\n"
           "How many there may be, and what happens beyond.\n"
           "Which tests of Hearth's own show it,\n"
           ".B hearth\\-info \\-\\-limits\n"
           "tells.\n");
    for (const struct limit *l = limits; l < limits + N_LIMITS; l++) {
        printf(".TP\n.B %" PRIu64 "\n", l->value);
        hearthi_roff_text(stdout, l->what);
        printf(".br\nBeyond: ");
        hearthi_roff_text(stdout, l->beyond);
    }
}
