/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "jia_hosts.h"

#include "api/api.h"
#include "base/report.h"
#include "hearth/jia.h"

struct hearthi_jia hearthi_jia;

int jia_pid;
int jia_hosts = 1;
int jia_lock_index;

void
hearthi_jia_require(const char *call)
{
    if (!hearthi_jia.up)
        hearthi_fatal(call, "called before jia_init or after jia_exit: call "
                            "it between them");
    hearthi_require_thread(call);
}

void
hearthi_jia_number(const char *call, const char *what, int number, int count)
{
    if (number < 0 || number >= count)
        hearthi_fatal(call, "%s %d does not exist: give 0 to %d", what, number,
                      count - 1);
}
