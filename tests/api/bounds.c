/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Lines at bounds of src/limit.def that no job of a test reaches: the part of
 * hearth_init that says each is called in a job that seems to be so large.
 */
#define _GNU_SOURCE
#include <config.h>

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/report.h"
#include "cluster.h"
#include "harness.h"
#include "malloc/arena_map.h"
#include "space/segment.h"
#include "transport/mpi/diff_aggregate.h"
#include "transport/mpi/rma_object.h"
#include "transport/patch.h"
#include "world.h"

/* What a process says that does this, and that it ends by a line. */
static void
refused(void (*open)(void), const char *words)
{
    int   said = memfd_create("said", 0), status;
    char  text[400] = "";
    pid_t child = fork();

    if (child == 0) {
        dup2(said, STDERR_FILENO);
        open();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(pread(said, text, sizeof text - 1, 0) >= 0);
    close(said);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == HEARTHI_EXIT,
                  "status %x; it says: %s", status, text);
    ck_assert_msg(strstr(text, "hearth_init: ") != NULL &&
                      strstr(text, words) != NULL,
                  "it says: %s", text);
}

static void
ranks_too_many(void)
{
    hearthi_world.size = HEARTHI_OWNERS + 1;
    hearthi_arena_map_open();
}

START_TEST(more_ranks_than_hearth_malloc_tells_apart_are_refused)
{
    refused(ranks_too_many, "1048576 ranks are more than the 1048575 that");
}
END_TEST

static void
memory_too_much(void)
{
    hearthi_segments.bytes = (size_t)HEARTHI_AM_BUFFER_OFFSETS + 1;
    hearthi_diff_aggregate_open(true);
}

START_TEST(home_memory_that_no_active_message_names_is_refused)
{
    refused(memory_too_much, "lower HEARTH_HOME, or use HEARTH_TRANSPORT=udp");
}
END_TEST

static void
nodes_too_many(void)
{
    hearthi_cluster.size = hearthi_cluster.nodes = HEARTHI_NODES_MOST + 1;
    hearthi_sync_open();
}

START_TEST(more_nodes_than_a_word_has_tickets_are_refused)
{
    refused(nodes_too_many, "set HEARTH_NODE_SIZE higher");
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("bounds");
    TCase *tc = tcase_create("bounds");

    tcase_add_test(tc, more_ranks_than_hearth_malloc_tells_apart_are_refused);
    tcase_add_test(tc, home_memory_that_no_active_message_names_is_refused);
    tcase_add_test(tc, more_nodes_than_a_word_has_tickets_are_refused);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
