/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "tmk_process.h"

#include "api/api.h"
#include "base/report.h"
#include "hearth/Tmk.h"

struct hearthi_tmk hearthi_tmk;

unsigned Tmk_proc_id;
unsigned Tmk_nprocs = 1;

void
hearthi_tmk_require(const char *call)
{
    if (!hearthi_tmk.up)
        hearthi_fatal(call, "called before Tmk_startup or after Tmk_exit: "
                            "call it between them");
    hearthi_require_thread(call);
}

void
hearthi_tmk_number(const char *call, const char *what, unsigned number,
                   unsigned count)
{
    hearthi_tmk_require(call);
    if (number >= count)
        hearthi_fatal(call, "%s %u does not exist: give 0 to %u", what, number,
                      count - 1);
}
