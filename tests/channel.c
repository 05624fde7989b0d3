/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A rank and a gateway that goes away (src/transport/clusters/channel.h).
 */
#define _GNU_SOURCE
#include <config.h>

#include <arpa/inet.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/report.h"
#include "harness.h"
#include "transport/clusters/channel.h"

enum { TRIES = 100 };

/* One that lets in whoever comes and is gone. */
static void *
gateway_run(void *listener)
{
    const struct linger none = { .l_onoff = 1 };

    for (;;) {
        int fd = accept(*(int *)listener, NULL, NULL);

        setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
        close(fd);
    }
    return NULL;
}

static void
gateway_start(struct hearthi_door *door)
{
    static int         listener;
    struct sockaddr_in a = { .sin_family = AF_INET };
    socklen_t          size = sizeof a;
    pthread_t          thread;

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&a, size), 0);
    ck_assert_int_eq(listen(listener, TRIES), 0);
    getsockname(listener, (struct sockaddr *)&a, &size);
    door->at = hearthi_addresses_loopback();
    hearthi_addresses_port(&door->at, a.sin_port);
    pthread_create(&thread, NULL, gateway_run, &listener);
}

static void
ending(void)
{
    static const char why[64] = "it was ended by one of its ranks";

    hearthi_channel_ending(why, sizeof why);
}

/* What a rank says that ends the job. */
static size_t
last_words(const struct hearthi_door *door, char *text, size_t room)
{
    int    fd = memfd_create("said", 0), status;
    size_t n;
    pid_t  child = fork();

    if (child == 0) {
        dup2(fd, STDERR_FILENO);
        hearthi_channels_open(door);
        hearthi_ending_hook = ending;
        hearthi_fatal("hearth_alloc", "this and that is wrong");
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(WEXITSTATUS(status), HEARTHI_EXIT);
    n = (size_t)pread(fd, text, room - 1, 0);
    text[n] = '\0';
    close(fd);
    return n;
}

START_TEST(a_gateway_that_goes_away_silences_no_rank)
{
    struct hearthi_door door;
    char                text[200];

    gateway_start(&door);
    for (int i = 0; i < TRIES; i++) {
        last_words(&door, text, sizeof text);
        ck_assert_str_eq(text, "hearth: hearth_alloc: this and that is "
                               "wrong\n");
    }
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("channel");
    TCase *tc = tcase_create("channel");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_gateway_that_goes_away_silences_no_rank);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
