/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "link_ends.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "link/key.h"
#include "link/link_state.h"
#include "visitor.h"

char        ends_key[64], ends_other_key[64];
static char folder[] = "./link-keys.XXXXXX";

void
ends_keys_make(void)
{
    struct hearthi_link_error w;

    if (mkdtemp(folder) == NULL)
        abort();
    snprintf(ends_key, sizeof ends_key, "%s/key", folder);
    snprintf(ends_other_key, sizeof ends_other_key, "%s/other", folder);
    if (!hearthi_key_make(ends_key, &w) ||
        !hearthi_key_make(ends_other_key, &w))
        abort();
}

void
ends_keys_remove(void)
{
    unlink(ends_key);
    unlink(ends_other_key);
    rmdir(folder);
}

void
end_prepare(struct end *e, int n, int me)
{
    static const char *const names[ENDS_MAX] = { "alpha", "beta", "gamma" };

    memset(e, 0, sizeof *e);
    e->conf.n = n;
    strcpy(e->conf.path, "test.conf");
    strcpy(e->conf.key, ends_key);
    for (int i = 0; i < n; i++) {
        struct hearthi_member *c = &e->conf.cluster[i];

        strcpy(c->name, names[i]);
        strcpy(c->host, "127.0.0.1");
        strcpy(c->port, "0");
        c->ranks = 2;
        c->first = 2 * i;
    }
    e->me = me;
    e->failed_cluster = -2;
    e->options = hearthi_link_defaults();
    e->options.giveup = 10;
    e->options.silence = 1;
    e->options.handshake = 2;
    e->options.linger = 0.05;
    e->options.version = "1.2.3";
    e->options.agree = "HEARTH_CONSISTENCY=release\nHEARTH_PAGE_SIZE=4096";
    e->options.tell = "page=4096";
}

static void
message(void *arg, int cluster, const void *body, size_t len)
{
    struct end *e = arg;

    ck_assert_int_eq((uintptr_t)body % 8, 0);
    e->got[cluster]++;
    if (e->message != NULL)
        e->message(e, cluster, body, len);
}

static void
up(void *arg, int cluster, const char *tell)
{
    struct end *e = arg;

    (void)cluster;
    e->ups++;
    snprintf(e->told, sizeof e->told, "%s", tell);
}

static void
failed(void *arg, int cluster, const char *line)
{
    struct end *e = arg;

    ck_assert_int_eq(e->failures++, 0);
    e->failed_cluster = cluster;
    e->failed_at = hearthi_clock_kernel();
    snprintf(e->failed, sizeof e->failed, "%s", line);
}

static void
warn(void *arg, const char *line)
{
    struct end *e = arg;

    e->warnings++;
    snprintf(e->warned, sizeof e->warned, "%s", line);
}

void
end_open(struct end *e)
{
    static const struct hearthi_link_calls calls = { message, up, failed,
                                                     warn };
    struct hearthi_link_error              w;

    e->link = hearthi_link_open(&e->conf, e->me, &e->options, &calls, e, &w);
    ck_assert_msg(e->link != NULL, "%s", w.text);
}

int
end_port(const struct end *e)
{
    struct sockaddr_in a;
    socklen_t          len = sizeof a;

    ck_assert_int_eq(
        getsockname(e->link->listener, (struct sockaddr *)&a, &len), 0);
    return ntohs(a.sin_port);
}

void
end_knows(struct end *e, const struct end *other)
{
    snprintf(e->conf.cluster[other->me].port, 6, "%d", end_port(other));
}

void
end_close(struct end *e)
{
    if (e->link != NULL)
        hearthi_link_close(e->link);
    e->link = NULL;
}

void
ends_open(struct end *e, int n)
{
    for (int i = 0; i < n; i++) {
        end_prepare(&e[i], n, i);
        for (int j = 0; j < i; j++)
            end_knows(&e[i], &e[j]);
        end_open(&e[i]);
    }
    ck_timely(ends_turn(e, n, all_up, 10));
}

void
ends_close(struct end *e, int n)
{
    for (int i = 0; i < n; i++)
        end_close(&e[i]);
}

bool
ends_turn(struct end *e, int n, bool (*done)(struct end *e, int n),
          double seconds)
{
    uint64_t until = hearthi_clock_kernel() + hearthi_seconds(seconds);

    for (;;) {
        for (int i = 0; i < n; i++)
            if (e[i].link != NULL)
                hearthi_link_turn(e[i].link, 1);
        if (done != NULL && done(e, n))
            return true;
        if (hearthi_clock_kernel() >= until)
            return false;
    }
}

bool
all_up(struct end *e, int n)
{
    for (int i = 0; i < n; i++)
        if (e[i].ups < n - 1)
            return false;
    return true;
}

bool
any_failed(struct end *e, int n)
{
    for (int i = 0; i < n; i++)
        if (e[i].failures > 0)
            return true;
    return false;
}

bool
all_failed(struct end *e, int n)
{
    for (int i = 0; i < n; i++)
        if (e[i].failures == 0)
            return false;
    return true;
}

int
visitor(int port)
{
    int fd = visitor_or_none(port);

    ck_assert_int_ge(fd, 0);
    return fd;
}

void
said(const char *line, const char *part)
{
    ck_assert_msg(strstr(line, part) != NULL, "\"%s\" has no \"%s\"", line,
                  part);
}

void
line_send(struct end *from, int to, const char *text)
{
    struct iovec part = { (void *)(uintptr_t)text, strlen(text) };

    ck_assert(hearthi_link_send(from->link, to, &part, 1));
}

void
pair_prepare(struct end *e)
{
    end_prepare(&e[0], 2, 0);
    end_prepare(&e[1], 2, 1);
}

void
pair_open(struct end *e)
{
    end_open(&e[0]);
    end_knows(&e[1], &e[0]);
    end_open(&e[1]);
}

bool
all_came(struct end *all, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (i != j && all[i].got[j] < 1)
                return false;
    return true;
}
