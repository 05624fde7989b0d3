/* SPDX-License-Identifier: BSD-2-Clause
 *
 * jia_bad CASE [ARG...] -- do one thing that jia.h does not allow;
 * jia_start.tap looks at how it ends.  The case "options" prints what arguments
 * are left, and what is acknowledged.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hearth/hearth.h"
#include "jia.h"

static void
lock_1024(void)
{
    jia_lock(1024);
}

static void
lock_negative(void)
{
    jia_lock(-1);
}

static void
unlock_1024(void)
{
    jia_unlock(1024);
}

static void
lock_twice(void)
{
    jia_lock(3);
    jia_lock(3);
}

static void
unlock_not_held(void)
{
    jia_unlock(3);
}

static void
unlock_out_of_order(void)
{
    jia_lock(1);
    jia_lock(2);
    jia_unlock(1);
}

/* One host, so that no other holds the locks. */
static void
nested_9(void)
{
    for (int i = 0; jiapid == 0 && i < 9; i++)
        jia_lock(i);
}

static void
barrier_in_section(void)
{
    jia_lock(jiapid);
    jia_barrier();
}

static void
cv_64(void)
{
    jia_setcv(64);
}

static void
counters_65(void)
{
    for (int i = 0; i < 65; i++)
        jia_gs_new();
}

static void
config_5(void)
{
    jia_config(5, ON);
}

static void
config_value(void)
{
    jia_config(HMIG, 2);
}

static void
size_zero(void)
{
    jia_alloc(0);
}

static void
size_negative(void)
{
    jia_alloc3(-4096, 4096, 0);
}

static void
size_beyond_heap(void)
{
    jia_alloc(1L << 50);
}

static void
block_zero(void)
{
    jia_alloc2(4096, 0);
}

static void
blocks_zero(void)
{
    const int blocks[] = { 0, 0 };

    jia_alloc4(4096, blocks, 2, 0);
}

static void
host_beyond(void)
{
    jia_alloc2p(4096, jiahosts);
}

static void
array_beyond(void)
{
    const int blocks[64] = { 4096 };

    jia_alloc_array(4096, blocks, jiahosts + 1);
}

static void
size_differs(void)
{
    jia_alloc2(4096 * (1 + jiapid), 4096);
}

static void
blocks_differ(void)
{
    const int blocks[] = { 4096, 4096 * (1 + jiapid) };

    jia_alloc4(16384, blocks, 2, 0);
}

static void
free_inside(void)
{
    jia_free(jia_alloc(8192) + 8);
}

static void
free_twice(void)
{
    unsigned long p = jia_alloc(8192);

    jia_free(p);
    jia_free(p);
}

static void
free_differs(void)
{
    unsigned long a = jia_alloc(8192), b = jia_alloc(8192);

    jia_free(jiapid == 0 ? a : b);
}

static void
free_in_section(void)
{
    unsigned long p = jia_alloc(8192);

    jia_lock(jiapid);
    jia_free(p);
}

static void
send_beyond(void)
{
    jia_send("", 1, jiahosts, 0);
}

static void
send_tag(void)
{
    jia_send("", 1, 0, -1);
}

static void
reduce_op(void)
{
    int one = 1, sum;

    jia_reduce(&one, &sum, 1, 3, 0);
}

static void
error(void)
{
    if (jiapid == jiahosts - 1)
        jia_error("out of %s\nat %d", "cheese", 5);
    jia_barrier();
}

static void
errexit(void)
{
    if (jiapid == 0)
        jia_errexit("no luck");
    jia_barrier();
}

static void
jump_error(void)
{
    RASSERT(jiahosts > 0, "no hosts")
    RASSERT(jiapid != 1, "host %d", jiapid)
    jia_barrier();
}

static void
jump_exit(void)
{
    if (jiapid == 0)
        JIA_ERROR("%s is out", "JUMP")
    jia_barrier();
}

static void
options(void)
{
    if (jiapid == 0)
        printf("acknowledged: %s\n", hearth_option("udp_ack"));
}

static void
init_twice(void)
{
    jia_init(0, NULL);
}

#define CASE(name) { #name, name }

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    CASE(lock_1024),          CASE(lock_negative),      CASE(unlock_1024),
    CASE(lock_twice),       CASE(unlock_not_held),    CASE(nested_9),
    CASE(config_5),         CASE(unlock_out_of_order), CASE(config_value),
    CASE(size_zero),        CASE(barrier_in_section), CASE(size_negative),
    CASE(size_beyond_heap), CASE(block_zero),         CASE(blocks_zero),
    CASE(host_beyond),      CASE(array_beyond),       CASE(size_differs),
    CASE(blocks_differ),    CASE(send_beyond),        CASE(send_tag),
    CASE(reduce_op),        CASE(error),              CASE(errexit),
    CASE(options),          CASE(init_twice),         CASE(cv_64),
    CASE(free_inside),      CASE(free_twice),         CASE(free_differs),
    CASE(free_in_section),   CASE(counters_65),       CASE(jump_error),
    CASE(jump_exit),
};

int
main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    if (strcmp(name, "before_init") == 0)
        jia_barrier();
    jia_init(argc, argv);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(name, cases[i].name) == 0)
            cases[i].run();
    jia_barrier();
    printf("host %d of %d, %d arguments\n", jiapid, jiahosts, argc);
    if (strcmp(name, "no_exit") == 0)
        return 0;
    if (strcmp(name, "no_exit_status") == 0)
        return 5;
    if (strcmp(name, "no_exit_but_one") == 0 && jiapid != 0)
        return 0;
    jia_exit();
    if (strcmp(name, "after_exit") == 0)
        jia_lock(1);
    return 0;
}
