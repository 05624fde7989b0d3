/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "key.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/file_write.h"

enum { DIGITS = 2 * HEARTHI_KEY_BYTES };

static bool
text_write(int fd, const char *text, size_t len)
{
    struct hearthi_file_write w;
    bool                      good;

    hearthi_file_write_begin(&w);
    good = write(fd, text, len) == (ssize_t)len && fsync(fd) == 0;
    hearthi_file_write_end(&w);
    return good;
}

bool
hearthi_key_make(const char *path, struct hearthi_link_error *wrong)
{
    unsigned char key[HEARTHI_KEY_BYTES];
    char          text[DIGITS + 2];
    int           fd;
    bool          good;

    if (RAND_priv_bytes(key, sizeof key) != 1)
        return hearthi_link_error(wrong, "OpenSSL gives no random bytes");
    for (int i = 0; i < HEARTHI_KEY_BYTES; i++)
        sprintf(text + 2 * i, "%02x", key[i]);
    strcpy(text + DIGITS, "\n");
    fd = hearthi_descriptor(
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (fd < 0)
        return hearthi_link_error(wrong, "%s: %s%s", path, strerror(errno),
                                  errno == EEXIST
                                      ? ": a key is never overwritten; "
                                        "remove it first, or give "
                                        "another name"
                                      : "");
    good = text_write(fd, text, DIGITS + 1);
    OPENSSL_cleanse(key, sizeof key);
    OPENSSL_cleanse(text, sizeof text);
    if (!good) {
        hearthi_link_error(wrong, "%s: %s", path,
                           hearthi_file_write_error(errno));
        unlink(path);
    }
    close(fd);
    return good;
}

static int
digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 'a' - 'A';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* How many digits there are at the start of the text, and the key. */
static int
digits_take(const char *text, int len, unsigned char *key)
{
    int n = 0;

    for (; n < len && digit(text[n]) >= 0; n++)
        if (n < DIGITS)
            key[n / 2] = (unsigned char)(key[n / 2] << 4 | digit(text[n]));
    return n;
}

static bool
file_good(int fd, const char *path, struct hearthi_link_error *wrong)
{
    struct stat s;

    if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode))
        return hearthi_link_error(wrong,
                                  "key %s is no file: make one with "
                                  "hearth-gateway --new-key FILE",
                                  path);
    if (s.st_uid != geteuid() && s.st_uid != 0)
        return hearthi_link_error(
            wrong,
            "key %s is of another user (%u), who knows it and "
            "may change it: copy it to a file of your own",
            path, (unsigned)s.st_uid);
    if ((s.st_mode & 077) != 0)
        return hearthi_link_error(
            wrong,
            "key %s may be used by others (mode %04o): chmod "
            "600 %s",
            path, (unsigned)s.st_mode & 07777, path);
    return true;
}

static bool
text_take(int fd, const char *path, unsigned char *key,
          struct hearthi_link_error *wrong)
{
    char text[DIGITS + 64];
    int  len = (int)read(fd, text, sizeof text);
    int  n = digits_take(text, len, key), end = n;

    while (end < len && strchr(" \t\r\n", text[end]) != NULL)
        end++;
    OPENSSL_cleanse(text, sizeof text);
    if (n == DIGITS && end == len)
        return true;
    return hearthi_link_error(
        wrong,
        "key %s is not %d hexadecimal digits%s: make one "
        "with hearth-gateway --new-key FILE",
        path, DIGITS, n < DIGITS ? ", but less" : "");
}

bool
hearthi_key_read(const char *path, unsigned char key[static HEARTHI_KEY_BYTES],
                 struct hearthi_link_error *wrong)
{
    int fd = hearthi_descriptor(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    bool good;

    if (fd < 0)
        return hearthi_link_error(
            wrong, "key %s: %s%s", path, strerror(errno),
            errno == ENOENT ? ": make it once with hearth-gateway "
                              "--new-key, and copy it to each cluster"
                            : "");
    good = file_good(fd, path, wrong) && text_take(fd, path, key, wrong);
    close(fd);
    return good;
}
