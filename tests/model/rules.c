/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The names of the rules that can be broken.
 */
#include "model.h"

#include <string.h>

static const char *const rules[RULES] = {
    [KEEP_FIRST_COPY] = "--keep-first-copy",
    [TRUST_OPEN_PAGE] = "--trust-open-page",
    [SCAN_ONCE] = "--scan-once",
    [ONE_SCANS] = "--one-scans",
    [NO_TELL] = "--no-tell",
    [TELL_WITH_FETCH] = "--tell-with-fetch",
    [FETCH_BEFORE_TELL] = "--fetch-before-tell",
    [FLAGS_BEFORE_WORD] = "--flags-before-word",
    [NO_FENCE] = "--no-fence",
    [NO_FENCE_TOLD] = "--no-fence-told",
    [KEEP_IN_FLIGHT] = "--keep-in-flight",
    [KEEP_FIRST_IN_FLIGHT] = "--keep-first-in-flight",
    [FORGET_IN_FLIGHT] = "--forget-in-flight",
    [FORGET_EVICTED] = "--forget-evicted",
    [NO_FLUSH_BEFORE_DROP] = "--no-flush-before-drop",
    [NO_WAIT_FOR_FLUSH] = "--no-wait-for-flush",
    [PUBLISH_BEFORE_FLUSH] = "--publish-before-flush",
    [WHOLE_PAGE_DIFF] = "--whole-page-diff",
    [WRITERS_KEEP] = "--writers-keep",
    [OWN_NOTICES_ONLY] = "--own-notices-only",
    [SEE_UNPLACED] = "--see-unplaced",
    [PLACE_UNSEEN] = "--place-unseen",
    [KEEP_SEEN] = "--keep-seen",
    [KEEP_REGISTERED] = "--keep-registered",
    [KEEP_COPY] = "--keep-copy",
    [NO_FREE_BARRIER] = "--no-free-barrier",
    [OVERWRITE_PART] = "--overwrite-part",
    [OVERWRITE_AGAIN] = "--overwrite-again",
    [KEEP_OVERWRITTEN] = "--keep-overwritten",
    [KEEP_UNTOLD] = "--keep-untold",
    [KEEP_HERE] = "--keep-here",
    [KEEP_PREDICTED] = "--keep-predicted",
    [PREDICT_UNTOLD] = "--predict-untold",
    [PREDICT_FIRST] = "--predict-first",
    [TAKE_OLD] = "--take-old",
    [TAKE_WRITTEN] = "--take-written",
    [TAKE_UNPASSED] = "--take-unpassed",
    [TAKE_OWN] = "--take-own",
    [TAKE_FIRST] = "--take-first",
    [FORGET_LATE] = "--forget-late",
    [NUMBER_LATE] = "--number-late",
    [LEND_DROPPED] = "--lend-dropped",
    [STEADY_UNTOLD] = "--steady-untold",
    [ARM_BLIND] = "--arm-blind",
    [ARM_CONSUME] = "--arm-consume",
    [ARM_NO_FENCE] = "--arm-no-fence",
    [ARM_KEEP_FIRST] = "--arm-keep-first",
    [SCAN_ALWAYS] = "--scan-always",
};

bool
rule_parse(const char *arg)
{
    for (int r = 0; r < RULES; r++)
        if (strcmp(arg, rules[r]) == 0) {
            model.broken |= UINT64_C(1) << r;
            return true;
        }
    return false;
}

void
rules_print(FILE *to)
{
    for (int r = 0; r < RULES; r++)
        fprintf(to, "%s%s", r % 3 == 0 ? "\n             " : " ", rules[r]);
    fprintf(to, "\n");
}
