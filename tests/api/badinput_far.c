/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The explicit interface between clusters, where there is one.
 */
#include "badinput.h"

static void
read_alone(void)
{
    char byte;

    if (me == last)
        hearth_read(0, 0, &byte, 1);
}

static void
write_alone(void)
{
    if (me == last)
        hearth_write(0, 0, "", 1);
}

const struct badinput badinput_fars[] = { BADINPUT(read_alone),
                                          BADINPUT(write_alone),
                                          { NULL, NULL } };
