/* SPDX-License-Identifier: BSD-2-Clause
 *
 * hearth-checkpoint: what is in a folder of checkpoints.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <hearth/version.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "checkpoint/folder.h"
#include "checkpoint/image.h"
#include "checkpoint/meta.h"

enum { BAD = 1, BAD_USAGE = 2, PATH = 4096 };

static const char help_text[] =
    "Usage: hearth-checkpoint list DIR\n"
    "       hearth-checkpoint check DIR[@N]\n"
    "       hearth-checkpoint show DIR[@N]\n"
    "       hearth-checkpoint prune DIR N\n"
    "\n"
    "  list    a line for each: number, time, ranks, bytes, whole or not, "
    "what "
    "it\n"
    "          builds on\n"
    "  check   read all of them, or number N; a line for each that is "
    "damaged, and\n"
    "          the status is 1 then\n"
    "  show    what the last one, or number N, says of its run\n"
    "  prune   leave the last N that can be restarted\n"
    "\n"
    "  -h, --help     this\n"
    "  -V, --version  the version\n";

static int
wrong(int status, const char *what, const char *why)
{
    fprintf(stderr, "hearth-checkpoint: %s: %s\n", what, why);
    return status;
}

/* ---- one checkpoint ---- */

struct place {
    char     path[PATH];
    bool     one;
    uint64_t number;
    int      folder;
};

/* DIR, or DIR@N. */
static int
place_open(struct place *p, const char *text)
{
    const char *at;

    if (strlen(text) >= sizeof p->path)
        return wrong(BAD_USAGE, text, "the name is too long");
    strcpy(p->path, text);
    at = hearthi_folder_number_at(p->path, &p->number);
    p->one = at != NULL;
    if (p->one)
        p->path[at - p->path] = '\0';
    p->folder = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return p->folder < 0 ? wrong(BAD, p->path, strerror(errno)) : 0;
}

/* ---- list and check ---- */

static void
number_list(int folder, uint64_t number)
{
    struct hearthi_meta m;
    char                file[HEARTHI_RANK_NAME], when[32] = "?";
    int                 failed =
        hearthi_folder_look(folder, number, HEARTHI_INDEXES, &m, file);
    time_t    seconds;
    struct tm tm;

    if (m.all == NULL) {
        printf("%" PRIu64 " ? ? ranks ? bytes damaged (%s: %s)\n", number,
               file, hearthi_damage_text(failed));
        return;
    }
    seconds = (time_t)m.head.seconds;
    if (localtime_r(&seconds, &tm) != NULL)
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &tm);
    printf("%" PRIu64 " %s %" PRIu64 " ranks %" PRIu64 " bytes ", number, when,
           m.head.ranks, m.head.data);
    if (failed == 0)
        printf("whole builds on none\n");
    else
        printf("damaged (%s: %s)\n", file, hearthi_damage_text(failed));
    hearthi_meta_free(&m);
}

static bool
number_check(const struct place *p, uint64_t number)
{
    struct hearthi_meta m;
    char                file[HEARTHI_RANK_NAME];
    int                 failed =
        hearthi_folder_look(p->folder, number, HEARTHI_ALL_BYTES, &m, file);

    if (failed != 0)
        printf("%s/%" PRIu64 "/%s: %s\n", p->path, number, file,
               hearthi_damage_text(failed));
    hearthi_meta_free(&m);
    return failed == 0;
}

static int
list(const char *text)
{
    struct place p;
    uint64_t    *number;
    size_t       n;
    int          failed = place_open(&p, text);

    if (failed != 0)
        return failed;
    failed = hearthi_folder_numbers(p.folder, &number, &n);
    for (size_t i = 0; i < n; i++)
        number_list(p.folder, number[i]);
    free(number);
    close(p.folder);
    return failed == 0 ? EXIT_SUCCESS : wrong(BAD, text, strerror(failed));
}

static int
check(const char *text)
{
    struct place p;
    uint64_t    *number;
    size_t       n;
    bool         good = true;
    int          failed = place_open(&p, text);

    if (failed != 0)
        return failed;
    if (p.one)
        return number_check(&p, p.number) ? EXIT_SUCCESS : BAD;
    failed = hearthi_folder_numbers(p.folder, &number, &n);
    for (size_t i = 0; i < n; i++)
        good &= number_check(&p, number[i]);
    free(number);
    if (failed != 0)
        return wrong(BAD, text, strerror(failed));
    return good ? EXIT_SUCCESS : BAD;
}

/* ---- show ---- */

/* Words of an allocation, as checkpoint/save.c writes them. */
enum { A_PAGE, A_BYTES, A_UNIT, A_NUMBER, A_KIND, A_BLOCK, A_FIRST, A_MORE };
enum { A_WORDS = A_MORE + 1 };

static void
allocations_show(const struct hearthi_meta *m)
{
    static const char *const kind[] = { "placed page by page", "block",
                                        "cyclic", "on one rank",
                                        "first touch" };
    const uint64_t          *w = m->words;

    for (uint64_t n = m->head.words; n >= A_WORDS;) {
        uint64_t more = A_WORDS + 2 * w[A_MORE];
        uint64_t k = w[A_KIND];

        if (w[A_MORE] > n || more > n)
            return;
        printf("allocation at 0x%" PRIx64 " of %" PRIu64 " bytes, %s",
               m->head.base + w[A_PAGE] * m->head.page, w[A_BYTES],
               k < sizeof kind / sizeof *kind ? kind[k] : "?");
        if (w[A_BLOCK] > 0)
            printf(", %" PRIu64 " pages a block", w[A_BLOCK]);
        putchar('\n');
        w += more;
        n -= more;
    }
}

static int
names_show(int fd, const struct hearthi_meta *m, uint64_t rank)
{
    struct hearthi_image_reader image;
    char                        file[HEARTHI_RANK_NAME];
    int                         failed;

    hearthi_rank_name(rank, file);
    failed = hearthi_image_open(&image, fd, file, &m->file[rank]);
    if (failed != 0)
        return wrong(BAD, file, hearthi_damage_text(failed));
    for (size_t i = 0; i < image.n; i++) {
        void *bytes;

        if (image.part[i].kind != HEARTHI_PART_PRIVATE)
            continue;
        failed = hearthi_image_get(&image, &image.part[i], &bytes);
        if (failed != 0)
            break;
        printf("rank %" PRIu64 " has %.*s: %" PRIu64 "\n", rank,
               HEARTHI_PRIVATE_NAME, (char *)bytes, image.part[i].at);
        free(bytes);
    }
    hearthi_image_close(&image);
    return failed == 0 ? 0 : wrong(BAD, file, hearthi_damage_text(failed));
}

static void
head_show(const struct hearthi_meta_head *h)
{
    printf("number %" PRIu64 "\nprogram %s\nversion %s\nranks %" PRIu64
           "\nnodes %" PRIu64 "\npage_size %" PRIu64 "\nheap %" PRIu64
           "\nbytes %" PRIu64 "\n",
           h->number, h->program, h->version, h->ranks, h->nodes, h->page,
           h->heap, h->data);
}

static int
number_show(const struct place *p, uint64_t number)
{
    struct hearthi_meta m;
    int                 fd = hearthi_folder_number(p->folder, number);
    int                 failed = fd < 0 ? errno : hearthi_meta_read(&m, fd);

    if (failed != 0)
        return wrong(BAD, p->path, hearthi_damage_text(failed));
    head_show(&m.head);
    allocations_show(&m);
    for (uint64_t r = 0; failed == 0 && r < m.head.ranks; r++)
        failed = names_show(fd, &m, r);
    hearthi_meta_free(&m);
    close(fd);
    return failed;
}

static int
show(const char *text)
{
    struct place p;
    uint64_t    *number;
    size_t       n;
    int          failed = place_open(&p, text);

    if (failed != 0)
        return failed;
    if (p.one)
        return number_show(&p, p.number);
    failed = hearthi_folder_numbers(p.folder, &number, &n);
    if (failed == 0 && n == 0)
        return wrong(BAD, text, "there is no checkpoint");
    failed = failed != 0 ? wrong(BAD, text, strerror(failed))
                         : number_show(&p, number[n - 1]);
    free(number);
    return failed;
}

/* ---- prune ---- */

static int
prune(const char *text, const char *count)
{
    struct hearthi_folder f;
    char                 *end;
    unsigned long         keep = strtoul(count, &end, 10);
    int                   failed;

    if (*count < '0' || *count > '9' || *end != '\0' || keep == 0)
        return wrong(BAD_USAGE, count,
                     "give how many are to be left, at "
                     "least 1");
    failed = hearthi_folder_open(&f, text, false);
    if (failed == EBUSY)
        return wrong(BAD, text,
                     "a job uses the folder: wait until it has "
                     "ended");
    if (failed == 0) {
        failed = hearthi_folder_prune(f.fd, keep, HEARTHI_ALL_BYTES);
        hearthi_folder_close(&f);
    }
    return failed == 0 ? EXIT_SUCCESS : wrong(BAD, text, strerror(failed));
}

/* ---- the command line ---- */

static int
usage_bad(void)
{
    fprintf(stderr, "hearth-checkpoint: give list, check or show and a "
                    "folder, or prune, a folder and a number; see "
                    "hearth-checkpoint --help\n");
    return BAD_USAGE;
}

static int
command_run(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[0], "list") == 0)
        return list(argv[1]);
    if (argc == 2 && strcmp(argv[0], "check") == 0)
        return check(argv[1]);
    if (argc == 2 && strcmp(argv[0], "show") == 0)
        return show(argv[1]);
    if (argc == 3 && strcmp(argv[0], "prune") == 0)
        return prune(argv[1], argv[2]);
    return usage_bad();
}

int
main(int argc, char **argv)
{
    static const struct option options[] = {
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'V' },
        { NULL, 0, NULL, 0 },
    };
    int status;

    switch (getopt_long(argc, argv, "+hV", options, NULL)) {
    case -1: break;
    case 'h': fputs(help_text, stdout); return EXIT_SUCCESS;
    case 'V': puts("hearth-checkpoint " HEARTH_VERSION); return EXIT_SUCCESS;
    default: return usage_bad();
    }
#ifndef HAVE_XXHASH_H
    return wrong(BAD, "this program",
                 "was built without xxhash, which checksums need");
#endif
    status = command_run(argc - optind, argv + optind);
    if (fflush(stdout) != 0)
        return wrong(BAD, "output", strerror(errno));
    return status;
}
