/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Files of a checkpoint: what was written is read, and nothing else is; and a
 * folder, in which a checkpoint is there whole or not at all.
 */
#include "checkpoint/image.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checkpoint/folder.h"
#include "checkpoint/meta.h"
#include "harness.h"

static char place[] = "/tmp/image.XXXXXX";
static int  folder;

static void
folder_make(void)
{
    strcpy(place + strlen(place) - 6, "XXXXXX");
    ck_assert(mkdtemp(place) != NULL);
    folder = open(place, O_RDONLY | O_DIRECTORY);
    ck_assert_int_ge(folder, 0);
}

static void
folder_remove(void)
{
    char command[sizeof place + 16];

    close(folder);
    snprintf(command, sizeof command, "rm -rf %s", place);
    ck_assert_int_eq(system(command), 0);
}

static void
file_write(struct hearthi_image_file *is)
{
    struct hearthi_image_writer w;
    char                        a[100], b[37];
    struct iovec                both[2] = { { a, sizeof a }, { b, sizeof b } };

    memset(a, 'a', sizeof a);
    memset(b, 'b', sizeof b);
    ck_assert_int_eq(hearthi_image_create(&w, folder, "rank.0"), 0);
    ck_assert_int_eq(hearthi_image_put(&w, HEARTHI_PART_PRIVATE, 1, both, 2),
                     0);
    ck_assert_int_eq(hearthi_image_put(&w, HEARTHI_PART_PAGES, 2, both + 1, 1),
                     0);
    ck_assert_int_eq(hearthi_image_finish(&w, 0, is), 0);
}

static int
file_check(const struct hearthi_image_file *is)
{
    struct hearthi_image_reader r;
    int failed = hearthi_image_open(&r, folder, "rank.0", is);

    if (failed == 0) {
        failed = hearthi_image_check(&r);
        hearthi_image_close(&r);
    }
    return failed;
}

static void
bit_flip(const char *name, size_t bit)
{
    int           fd = openat(folder, name, O_RDWR);
    unsigned char byte;

    ck_assert_int_eq(pread(fd, &byte, 1, (off_t)(bit / 8)), 1);
    byte ^= (unsigned char)(1u << bit % 8);
    ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)(bit / 8)), 1);
    close(fd);
}

START_TEST(what_was_written_is_read)
{
    struct hearthi_image_file   is;
    struct hearthi_image_reader r;
    void                       *bytes;

    file_write(&is);
    ck_assert_int_eq(file_check(&is), 0);
    ck_assert_int_eq(hearthi_image_open(&r, folder, "rank.0", &is), 0);
    ck_assert_int_eq(r.n, 2);
    ck_assert_int_eq(r.part[0].bytes, 137);
    ck_assert_int_eq(hearthi_image_get(&r, &r.part[0], &bytes), 0);
    ck_assert(((char *)bytes)[99] == 'a' && ((char *)bytes)[100] == 'b');
    free(bytes);
    hearthi_image_close(&r);
}
END_TEST

/* As that of a freed object does which the kernel is given back.  A process of
 * its own changes it. */
enum { CHANGING = 16 << 20, PUTS = 4 };

static pid_t
changer_start(char *bytes)
{
    pid_t child = fork();

    if (child == 0)
        for (int n = 1;; n++)
            memset(bytes, n, CHANGING);
    return child;
}

START_TEST(memory_that_changes_meanwhile_makes_no_damage)
{
    struct iovec                all = { NULL, CHANGING };
    struct hearthi_image_writer w;
    struct hearthi_image_file   is;
    pid_t                       child;

    all.iov_base = mmap(NULL, CHANGING, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(all.iov_base != MAP_FAILED);
    child = changer_start(all.iov_base);
    ck_assert_int_eq(hearthi_image_create(&w, folder, "rank.0"), 0);
    for (int i = 0; i < PUTS; i++)
        ck_assert_int_eq(
            hearthi_image_put(&w, HEARTHI_PART_PRIVATE, 1, &all, 1), 0);
    ck_assert_int_eq(hearthi_image_finish(&w, 0, &is), 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    munmap(all.iov_base, CHANGING);
    ck_assert_int_eq(file_check(&is), 0);
}
END_TEST

START_TEST(every_bit_that_flips_is_found)
{
    struct hearthi_image_file is;

    file_write(&is);
    for (size_t bit = 0; bit < is.bytes * 8; bit++) {
        bit_flip("rank.0", bit);
        ck_assert_int_eq(file_check(&is), EBADMSG);
        bit_flip("rank.0", bit);
    }
    ck_assert_int_eq(file_check(&is), 0);
}
END_TEST

START_TEST(a_file_that_is_cut_off_anywhere_is_found)
{
    struct hearthi_image_file is;
    char                      name[sizeof place + 16];

    file_write(&is);
    snprintf(name, sizeof name, "%s/rank.0", place);
    for (uint64_t n = is.bytes; n-- > 0;) {
        ck_assert_int_eq(truncate(name, (off_t)n), 0);
        ck_assert_int_eq(file_check(&is), EBADMSG);
    }
    ck_assert_int_eq(unlink(name), 0);
    ck_assert_int_eq(file_check(&is), ENOENT);
}
END_TEST

/* ---- a file system that is not as those here are ---- */

static bool answer_lost, lockless;

/* A file server has renamed it, and is asked again. */
int
renameat(int from_in, const char *from, int to_in, const char *to)
{
    long did = syscall(SYS_renameat2, from_in, from, to_in, to, 0);

    if (did != 0 || !answer_lost)
        return (int)did;
    errno = ENOENT;
    return -1;
}

int
fcntl(int fd, int command, ...)
{
    va_list ap;
    void   *with;

    va_start(ap, command);
    with = va_arg(ap, void *);
    va_end(ap);
    if (command != F_SETLK || !lockless)
        return (int)syscall(SYS_fcntl, fd, command, with);
    errno = ENOSYS;
    return -1;
}

/* ---- folders ---- */

static void
meta_make(int in)
{
    struct hearthi_image_file file[2] = { { 100, 2, 7 }, { 200, 3, 8 } };
    uint64_t                  words[3] = { 1, 2, 3 };
    struct hearthi_meta       m = {
              .head = { .magic = HEARTHI_META_MAGIC,
                        .format = HEARTHI_META_FORMAT,
                        .ranks = 2,
                        .words = 3,
                        .program = "survivor" },
              .file = file,
              .words = words,
    };

    ck_assert_int_eq(hearthi_meta_write(&m, in), 0);
}

START_TEST(every_bit_of_a_meta_file_counts)
{
    struct hearthi_meta m;
    int                 fd;

    meta_make(folder);
    ck_assert_int_eq(hearthi_meta_read(&m, folder), 0);
    ck_assert_int_eq(m.words[2], 3);
    ck_assert_int_eq(m.file[1].bytes, 200);
    hearthi_meta_free(&m);
    fd = openat(folder, "meta", O_RDONLY);
    for (off_t n = lseek(fd, 0, SEEK_END) * 8; n-- > 0;) {
        bit_flip("meta", (size_t)n);
        ck_assert_int_ne(hearthi_meta_read(&m, folder), 0);
        bit_flip("meta", (size_t)n);
    }
    close(fd);
}
END_TEST

static void
file_make(int in, const char *name, off_t bytes)
{
    int fd = openat(in, name, O_WRONLY | O_CREAT, 0600);

    ck_assert_int_eq(ftruncate(fd, bytes), 0);
    close(fd);
}

static uint64_t
checkpoint_make(const struct hearthi_folder *f)
{
    char     name[HEARTHI_NEW_NAME];
    uint64_t number;
    int      in;

    ck_assert_int_eq(hearthi_folder_begin(f, &number, name), 0);
    in = openat(f->fd, name, O_RDONLY | O_DIRECTORY);
    meta_make(in);
    file_make(in, "rank.0", 100);
    file_make(in, "rank.1", 200);
    close(in);
    ck_assert_int_eq(hearthi_folder_commit(f, name, number), 0);
    return number;
}

static size_t
numbers_count(int fd)
{
    uint64_t *number;
    size_t    n;

    ck_assert_int_eq(hearthi_folder_numbers(fd, &number, &n), 0);
    free(number);
    return n;
}

/* One that was begun and not finished does not count, and leaves nothing. */
START_TEST(a_checkpoint_is_there_whole_or_not_at_all)
{
    struct hearthi_folder f;
    char                  name[HEARTHI_NEW_NAME];
    uint64_t              number;

    ck_assert_int_eq(hearthi_folder_open(&f, place, true), 0);
    ck_assert_int_eq(checkpoint_make(&f), 1);
    ck_assert_int_eq(hearthi_folder_begin(&f, &number, name), 0);
    ck_assert_int_eq(number, 2);
    ck_assert_int_eq(numbers_count(f.fd), 1);
    ck_assert_int_eq(checkpoint_make(&f), 2);
    ck_assert_int_ne(faccessat(f.fd, name, F_OK, 0), 0);
    ck_assert_int_eq(checkpoint_make(&f), 3);
    ck_assert_int_eq(hearthi_folder_prune(f.fd, 2, HEARTHI_LENGTHS), 0);
    ck_assert_int_eq(numbers_count(f.fd), 2);
    hearthi_folder_close(&f);
}
END_TEST

/* Of those that are kept each can be restarted. */
START_TEST(a_damaged_one_is_not_counted_among_those_that_are_kept)
{
    struct hearthi_folder f;

    ck_assert_int_eq(hearthi_folder_open(&f, place, true), 0);
    for (int i = 0; i < 4; i++)
        checkpoint_make(&f);
    bit_flip("3/meta", 77);
    ck_assert_int_eq(hearthi_folder_prune(f.fd, 2, HEARTHI_LENGTHS), 0);
    ck_assert_int_ne(faccessat(f.fd, "1", F_OK, 0), 0);
    ck_assert_int_eq(faccessat(f.fd, "2", F_OK, 0), 0);
    ck_assert_int_eq(faccessat(f.fd, "4", F_OK, 0), 0);
    hearthi_folder_close(&f);
}
END_TEST

START_TEST(nor_is_one_of_which_a_file_was_cut_off_or_is_gone)
{
    struct hearthi_folder f;

    ck_assert_int_eq(hearthi_folder_open(&f, place, true), 0);
    for (int i = 0; i < 4; i++)
        checkpoint_make(&f);
    unlinkat(f.fd, "2/rank.0", 0);
    file_make(f.fd, "4/rank.1", 199);
    ck_assert_int_eq(hearthi_folder_prune(f.fd, 2, HEARTHI_LENGTHS), 0);
    for (const char *name = "1234"; *name != '\0'; name++)
        ck_assert_int_eq(faccessat(f.fd, (char[]){ *name, '\0' }, F_OK, 0), 0);
    ck_assert_int_eq(hearthi_folder_prune(f.fd, 1, HEARTHI_LENGTHS), 0);
    ck_assert_int_eq(numbers_count(f.fd), 2);
    ck_assert_int_eq(faccessat(f.fd, "3", F_OK, 0), 0);
    hearthi_folder_close(&f);
}
END_TEST

/* In a folder that a user keeps other things in, too. */
START_TEST(nothing_else_is_removed)
{
    static const char *const users[] = { "1", "new.results", "new.1.results",
                                         "old.1.0123ABCD", "new" };
    enum { USERS = sizeof users / sizeof *users };
    struct hearthi_folder f;

    for (int i = 0; i < USERS; i++) {
        int in;

        ck_assert_int_eq(mkdirat(folder, users[i], 0700), 0);
        in = openat(folder, users[i], O_RDONLY | O_DIRECTORY);
        file_make(in, "data", 10);
        file_make(in, "meta", 10);
        close(in);
    }
    ck_assert_int_eq(hearthi_folder_open(&f, place, true), 0);
    ck_assert_int_eq(checkpoint_make(&f), 2);
    ck_assert_int_eq(checkpoint_make(&f), 3);
    ck_assert_int_eq(hearthi_folder_prune(f.fd, 1, HEARTHI_LENGTHS), 0);
    for (int i = 0; i < USERS; i++) {
        int in = openat(folder, users[i], O_RDONLY | O_DIRECTORY);

        ck_assert_int_ge(in, 0);
        ck_assert_int_eq(faccessat(in, "data", F_OK, 0), 0);
        close(in);
    }
    ck_assert_int_ne(faccessat(folder, "2", F_OK, 0), 0);
    hearthi_folder_close(&f);
}
END_TEST

START_TEST(a_rename_whose_answer_is_lost_is_done)
{
    struct hearthi_folder f;
    char                  name[HEARTHI_NEW_NAME];
    uint64_t              number;

    ck_assert_int_eq(hearthi_folder_open(&f, place, true), 0);
    answer_lost = true;
    ck_assert_int_eq(checkpoint_make(&f), 1);
    ck_assert_int_eq(hearthi_folder_begin(&f, &number, name), 0);
    ck_assert_int_eq(unlinkat(f.fd, name, AT_REMOVEDIR), 0);
    ck_assert_int_eq(hearthi_folder_commit(&f, name, number), ENOENT);
    hearthi_folder_close(&f);
}
END_TEST

START_TEST(a_file_system_without_locks_has_checkpoints)
{
    struct hearthi_folder f;

    lockless = true;
    ck_assert_int_eq(hearthi_folder_open(&f, place, true), 0);
    ck_assert_int_eq(checkpoint_make(&f), 1);
    hearthi_folder_close(&f);
}
END_TEST

START_TEST(starts_are_counted_for_each_number_anew)
{
    ck_assert_int_eq(hearthi_folder_starts(folder, 5), 0);
    hearthi_folder_started(folder, 5, 2);
    ck_assert_int_eq(hearthi_folder_starts(folder, 5), 2);
    ck_assert_int_eq(hearthi_folder_starts(folder, 4), 0);
    hearthi_folder_started(folder, 5, 0);
    ck_assert_int_eq(hearthi_folder_starts(folder, 5), 0);
}
END_TEST

/* Else 7 7 7 6 7 7 7 6 ... would never come to 5. */
START_TEST(a_number_that_was_passed_over_stays_so)
{
    hearthi_folder_started(folder, 6, 1);
    ck_assert_int_eq(hearthi_folder_starts(folder, 7), HEARTHI_STARTS_MOST);
    ck_assert_int_eq(hearthi_folder_starts(folder, 6), 1);
    hearthi_folder_started(folder, 0, 1); /* from the beginning */
    ck_assert_int_eq(hearthi_folder_starts(folder, 7), 0);
    hearthi_folder_started(folder, 0, 0);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("image");
    TCase *tc = tcase_create("files");

    tcase_add_checked_fixture(tc, folder_make, folder_remove);
    tcase_add_test(tc, what_was_written_is_read);
    tcase_add_test(tc, memory_that_changes_meanwhile_makes_no_damage);
    tcase_add_test(tc, every_bit_that_flips_is_found);
    tcase_add_test(tc, a_file_that_is_cut_off_anywhere_is_found);
    tcase_add_test(tc, every_bit_of_a_meta_file_counts);
    tcase_add_test(tc, a_checkpoint_is_there_whole_or_not_at_all);
    tcase_add_test(tc, a_damaged_one_is_not_counted_among_those_that_are_kept);
    tcase_add_test(tc, nor_is_one_of_which_a_file_was_cut_off_or_is_gone);
    tcase_add_test(tc, nothing_else_is_removed);
    tcase_add_test(tc, a_rename_whose_answer_is_lost_is_done);
    tcase_add_test(tc, a_file_system_without_locks_has_checkpoints);
    tcase_add_test(tc, starts_are_counted_for_each_number_anew);
    tcase_add_test(tc, a_number_that_was_passed_over_stays_so);
    suite_add_tcase(suite, tc);
    return unit_main(suite);
}
