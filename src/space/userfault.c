/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "userfault.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/dlsym_next.h"
#include "memfile.h"

/* Headers of Linux 5.19 have all but what 6.4 has added; older ones too
 * little.
 */
#if defined(UFFD_FEATURE_WP_HUGETLBFS_SHMEM) && defined(SYS_userfaultfd)

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef UFFDIO_CONTINUE_MODE_WP
#define UFFDIO_CONTINUE_MODE_WP ((uint64_t)1 << 1)
#endif
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

static int fd = -1;

static struct uffdio_range
range_of(const void *at, size_t len)
{
    return (struct uffdio_range){ .start = (uintptr_t)at, .len = len };
}

/* Past the C library, whose madvise() other libraries watch to forget what
 * they know of the memory: what is hidden stays where it is.  A range that the
 * program has locked (mlockall) can be hidden, too. */
static int
advise(void *at, size_t len, int advice)
{
    return syscall(SYS_madvise, at, len, advice) == 0 ? 0 : errno;
}

int
hearthi_userfault_watch(void *at, size_t len)
{
    struct uffdio_register r = {
        .range = range_of(at, len),
        .mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_MINOR |
                UFFDIO_REGISTER_MODE_WP,
    };
    int code = advise(at, len, MADV_DONTFORK);

    if (code != 0)
        return code;
    if (ioctl(fd, UFFDIO_REGISTER, &r) != 0 ||
        hearthi_mprotect(at, len, PROT_READ | PROT_WRITE) != 0)
        return errno;
    return 0;
}

int
hearthi_userfault_leave(void *at, size_t len)
{
    struct uffdio_range r = range_of(at, len);

    if (ioctl(fd, UFFDIO_UNREGISTER, &r) != 0)
        return errno;
    return advise(at, len, MADV_DOFORK);
}

/* The kernel does a range in parts, and tells how far it came.  It does none
 * of a range that is several mappings, as it is where the program has given
 * advice (madvise, mlock, mbind): then it is told of one page at a time. */
int
hearthi_userfault_show(void *at, size_t len, bool write)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), most = len;

    for (size_t done = 0; done < len;) {
        size_t                 n = most < len - done ? most : len - done;
        struct uffdio_continue c = {
            .range = range_of((char *)at + done, n),
            .mode = UFFDIO_CONTINUE_MODE_DONTWAKE |
                    (write ? 0 : UFFDIO_CONTINUE_MODE_WP),
        };

        if (ioctl(fd, UFFDIO_CONTINUE, &c) == 0)
            done += n;
        else if (c.mapped > 0)
            done += (size_t)c.mapped;
        else if (errno == EEXIST)
            done += page;
        else if (errno == ENOENT && n > page)
            most = page;
        else if (errno != EAGAIN)
            return errno;
        else
            sched_yield(); /* others change mappings */
    }
    return 0;
}

int
hearthi_userfault_allow(void *at, size_t len, bool write)
{
    struct uffdio_writeprotect w = {
        .range = range_of(at, len),
        .mode = write ? UFFDIO_WRITEPROTECT_MODE_DONTWAKE
                      : UFFDIO_WRITEPROTECT_MODE_WP,
    };

    while (ioctl(fd, UFFDIO_WRITEPROTECT, &w) != 0) {
        if (errno != EAGAIN)
            return errno;
        sched_yield();
    }
    return 0;
}

int
hearthi_userfault_hide(void *at, size_t len)
{
    return advise(at, len, MADV_DONTNEED_LOCKED);
}

/* ---- the trial ---- */

static const char too_old[] = "this kernel's userfaultfd cannot protect "
                              "copies: Linux 6.4 is the first that can";

static const char *
descriptor_open(void)
{
    struct uffdio_api api = {
        .api = UFFD_API,
        .features = UFFD_FEATURE_SIGBUS | UFFD_FEATURE_MISSING_SHMEM |
                    UFFD_FEATURE_MINOR_SHMEM | UFFD_FEATURE_PAGEFAULT_FLAG_WP |
                    UFFD_FEATURE_WP_HUGETLBFS_SHMEM,
    };

    fd = hearthi_descriptor(
        (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
    if (fd < 0 && errno == EPERM)
        return "userfaultfd is forbidden here (by a container's seccomp "
               "profile, for instance)";
    if (fd < 0 && errno == ENOSYS)
        return "this kernel has no userfaultfd, or hides it";
    if (fd < 0)
        return errno == EINVAL ? too_old : "no descriptor is left";
    return ioctl(fd, UFFDIO_API, &api) == 0 ? NULL : too_old;
}

/* The kernel itself tells whether a page is protected: by EFAULT. */
static bool
is_refused(ssize_t got)
{
    return got < 0 && errno == EFAULT;
}

/* Hidden, then to be read, then to be written, then hidden. */
static bool
is_watched(int file, char *page, size_t len)
{
    return hearthi_userfault_watch(page, len) == 0 &&
           is_refused(pwrite(file, page, 1, 1)) &&
           hearthi_userfault_show(page, len, false) == 0 && *page == 'x' &&
           is_refused(pread(file, page, 1, 0)) &&
           hearthi_userfault_allow(page, len, true) == 0 &&
           pread(file, page, 1, 1) == 1 && *page == '\0' &&
           hearthi_userfault_hide(page, len) == 0;
}

/* Hidden, then to be written, then to be read, then hidden. */
static bool
is_watched_still(int file, char *page, size_t len)
{
    return is_refused(pread(file, page, 1, 0)) &&
           hearthi_userfault_show(page, len, true) == 0 &&
           pread(file, page, 1, 1) == 1 &&
           hearthi_userfault_allow(page, len, false) == 0 &&
           is_refused(pread(file, page, 1, 0)) &&
           hearthi_userfault_hide(page, len) == 0 &&
           is_refused(pwrite(file, page, 1, 1));
}

static bool
page_tried(int file, char *page, size_t len)
{
    return pwrite(file, "x", 1, 0) == 1 && is_watched(file, page, len) &&
           is_watched_still(file, page, len) &&
           hearthi_userfault_show(page, len, true) == 0 &&
           pread(file, page, 1, 1) == 1 && hearthi_userfault_works() &&
           hearthi_userfault_leave(page, len) == 0;
}

static const char *
trial(void)
{
    size_t      len = (size_t)sysconf(_SC_PAGESIZE);
    char       *page = MAP_FAILED;
    bool        good = false;
    const char *why;
    int         file = hearthi_memfile("hearth-trial", len, &why);

    if (file >= 0)
        page = mmap(NULL, len, PROT_NONE, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) {
        good = page_tried(file, page, len);
        munmap(page, len);
    }
    if (file >= 0)
        close(file);
    return good ? NULL : too_old;
}

const char *
hearthi_userfault_open(void)
{
    const char *why = descriptor_open();

    if (why == NULL)
        why = trial();
    if (why != NULL)
        hearthi_userfault_close();
    return why;
}

/* To wake threads that wait for a page, though none ever does. */
bool
hearthi_userfault_works(void)
{
    size_t              page = (size_t)sysconf(_SC_PAGESIZE);
    struct uffdio_range r = { .start = (uint64_t)page << 8, .len = page };

    return ioctl(fd, UFFDIO_WAKE, &r) == 0;
}

void
hearthi_userfault_close(void)
{
    if (fd >= 0)
        close(fd);
    fd = -1;
}

#else

const char *
hearthi_userfault_open(void)
{
    return "the library was built with headers of a kernel before Linux 5.19";
}

void
hearthi_userfault_close(void)
{
}

bool
hearthi_userfault_works(void)
{
    return false;
}

int
hearthi_userfault_watch(void *at, size_t len)
{
    (void)at, (void)len;
    return ENOSYS;
}

int
hearthi_userfault_leave(void *at, size_t len)
{
    return hearthi_userfault_watch(at, len);
}

int
hearthi_userfault_show(void *at, size_t len, bool write)
{
    (void)write;
    return hearthi_userfault_watch(at, len);
}

int
hearthi_userfault_allow(void *at, size_t len, bool write)
{
    return hearthi_userfault_show(at, len, write);
}

int
hearthi_userfault_hide(void *at, size_t len)
{
    return hearthi_userfault_watch(at, len);
}

#endif
