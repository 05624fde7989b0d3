/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the system tells a program (of files, names, sockets) comes into the
 * heap, and the system reads names there; streams keep no buffer of the heap.
 */
#include "config.h"

#include "system.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"

static char *slots; /* a page that is home elsewhere for each call */

static void *
slot(int i)
{
    char *p = slots + (size_t)((i * ranks + (me + 1) % ranks) * page_bytes());

    return p + 256;
}

static void *
text_slot(int i, const char *text)
{
    char *p = slot(i);

    return memcpy(p, text, strlen(text) + 1);
}

/* Of a folder in which no other program makes files meanwhile. */
static void
status_is_told(int i)
{
    struct stat  here, *there = slot(i);
    struct statx more, *told = slot(i + 1);

    expect_eq(stat("/", &here), 0);
    expect_eq(stat("/", there), 0);
    expect(memcmp(&here, there, sizeof here) == 0);
    expect_eq(fstat(0, slot(i + 2)), 0);
    expect_eq(lstat("/", slot(i + 3)), 0);
    expect_eq(fstatat(AT_FDCWD, "/", slot(i + 4), 0), 0);
    expect_eq(statx(AT_FDCWD, "/", 0, STATX_INO, told), 0);
    expect_eq(statx(AT_FDCWD, "/", 0, STATX_INO, &more), 0);
    expect(told->stx_ino == more.stx_ino && told->stx_ino == here.st_ino);
}

static void
names_are_told(int i)
{
    char  here[4096];
    char *there = slot(i);

    expect(getcwd(here, sizeof here) == here);
    expect(getcwd(there, 3000) == there);
    expect(strcmp(here, there) == 0);
    expect(readlink("/proc/self/cwd", slot(i + 1), 3000) ==
           (ssize_t)strlen(here));
    expect(memcmp(here, slot(i + 1), strlen(here)) == 0);
    expect_eq(getrandom(slot(i + 2), 600, 0), 600);
    expect_eq(getentropy(slot(i + 3), 200), 0);
}

static void
sockets_tell(int i)
{
    int             fds[2], *ends = slot(i), *kind = slot(i + 1);
    socklen_t      *len = slot(i + 2);
    struct pollfd  *p = slot(i + 3);
    fd_set         *set = slot(i + 4);
    struct timeval *t = slot(i + 5);

    expect_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    memcpy(fds, ends, sizeof fds);
    *len = sizeof *kind;
    expect_eq(getsockopt(fds[0], SOL_SOCKET, SO_TYPE, kind, len), 0);
    expect(*kind == SOCK_STREAM && *len == sizeof *kind);
    *p = (struct pollfd){ .fd = fds[0], .events = POLLOUT | POLLIN };
    expect_eq(poll(p, 1, 0), 1);
    expect_eq(p->revents, POLLOUT);
    FD_ZERO(set);
    FD_SET(fds[0], set);
    *t = (struct timeval){ 0, 1000 };
    expect_eq(select(fds[0] + 1, set, NULL, NULL, t), 0);
    expect(!FD_ISSET(fds[0], set));
    close(fds[0]);
    close(fds[1]);
}

/* The names of files that only another rank has touched. */
static void
names_are_read(int i)
{
    FILE *f;
    int   fd;

    text_slot(i, "/dev/null");
    text_slot(i + 1, "/tmp");
    barrier();
    /* What the next rank has written is absent here, and home here or not. */
    f = fopen((char *)slot(i), "r");
    expect(f != NULL);
    if (f != NULL)
        fclose(f);
    fd = open(slot(i), O_RDONLY);
    expect(fd >= 0);
    close(fd);
    expect_eq(access(slot(i + 1), F_OK), 0);
    barrier();
}

START_TEST(the_system_tells_into_the_heap)
{
    enum { SLOTS = 20 };

    slots = hearth_alloc((size_t)(SLOTS * ranks) * page_bytes(), 1,
                         hearth_cyclic(1));
    barrier();
    status_is_told(0);
    names_are_told(6);
    sockets_tell(10);
    names_are_read(16);
    barrier();
    hearth_free(slots);
    all_expected();
}
END_TEST

/* A stream keeps the buffer that it is given: not one of the heap. */
START_TEST(a_stream_takes_no_buffer_of_the_heap)
{
    char *p =
        hearth_alloc((size_t)ranks * 2 * page_bytes(), 1, hearth_cyclic(1));
    char  line[100];
    FILE *f = tmpfile();

    expect_eq(setvbuf(f, p + page_bytes(), _IOFBF, page_bytes()), 0);
    for (int i = 0; i < 1000; i++)
        fprintf(f, "line %d\n", i);
    rewind(f);
    for (int i = 0; i < 1000; i++)
        expect(fgets(line, sizeof line, f) != NULL && atoi(line + 5) == i);
    fclose(f);
    hearth_free(p);
    all_expected();
}
END_TEST

void
system_tells(TCase *tc)
{
    tcase_add_test(tc, the_system_tells_into_the_heap);
    tcase_add_test(tc, a_stream_takes_no_buffer_of_the_heap);
}
