/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Connections that are made again: to which address, and when no more.
 */
#include "config.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "link/state.h"
#include "link_ends.h"

static struct end e[ENDS_MAX];

static struct hearthi_mate *
gateway_of_alpha(void)
{
    return &e[1].link->mate[0];
}

static bool
again(struct end *all, int n)
{
    (void)n;
    return hearthi_link_counts(all[1].link).reconnects > 0;
}

/* Nobody answers at the first of two addresses. */
START_TEST(an_address_that_has_answered_is_called_again)
{
    struct hearthi_gateway *g;

    pair_prepare(e);
    pair_open(e);
    g = &gateway_of_alpha()->at;
    g->n = 2;
    g->at[1] = g->at[0];
    ((struct sockaddr_in *)&g->at[0].to)->sin_port = htons(1);
    ck_assert(ends_turn(e, 2, all_up, 5));
    ck_assert_int_eq(g->next, 1);
    shutdown(gateway_of_alpha()->lane[0]->fd, SHUT_RDWR);
    ck_assert(ends_turn(e, 2, again, 5));
    ck_assert_int_eq(gateway_of_alpha()->nobody, 0);
    ck_assert_int_eq(gateway_of_alpha()->lane[0]->at, 1);
    ends_close(e, 2);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("link_again");
    TCase *tc = tcase_create("link_again");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, an_address_that_has_answered_is_called_again);
    suite_add_tcase(s, tc);
    ends_keys_make();
    unit_main(s);
    ends_keys_remove();
    return EXIT_SUCCESS;
}
