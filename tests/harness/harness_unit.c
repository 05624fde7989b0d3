/* SPDX-License-Identifier: BSD-2-Clause */
#include "harness.h"

#include <stdlib.h>

int
unit_main(Suite *suite)
{
    SRunner *sr = srunner_create(suite);

    srunner_set_tap(sr, "-");
    srunner_run_all(sr, CK_SILENT);
    srunner_free(sr);
    return EXIT_SUCCESS; /* the verdict is in the TAP lines */
}
