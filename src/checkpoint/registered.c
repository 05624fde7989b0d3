/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Private memory that this rank gave to its checkpoints.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mutex.h"
#include "base/report.h"
#include "checkpoint.h"

struct registered {
    struct registered *next;
    void              *p;
    size_t             bytes;
    char               name[HEARTHI_PRIVATE_NAME];
};

static pthread_mutex_t    mutex = PTHREAD_MUTEX_INITIALIZER;
static struct registered *first;

/* The place in the list, which has NULL if there is none of that name. */
static struct registered **
place_of(const char *name)
{
    struct registered **at = &first;

    HEARTHI_ASSERT_HAS(REGISTERED);
    while (*at != NULL && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    return at;
}

bool
hearthi_registered_add(void *p, size_t bytes, const char *name)
{
    struct registered *r = calloc(1, sizeof *r), **at;
    bool               is_new;

    if (r == NULL)
        hearthi_fatal("hearth_checkpoint_add", "no memory");
    r->p = p;
    r->bytes = bytes;
    strncpy(r->name, name, sizeof r->name - 1);
    hearthi_mutex_lock(&mutex, HEARTHI_MUTEX_REGISTERED);
    at = place_of(name);
    is_new = *at == NULL;
    if (is_new)
        *at = r;
    hearthi_mutex_unlock(&mutex, HEARTHI_MUTEX_REGISTERED);
    if (!is_new)
        free(r);
    return is_new;
}

bool
hearthi_registered_remove(const char *name)
{
    struct registered **at, *gone;

    hearthi_mutex_lock(&mutex, HEARTHI_MUTEX_REGISTERED);
    at = place_of(name);
    gone = *at;
    if (gone != NULL)
        *at = gone->next;
    hearthi_mutex_unlock(&mutex, HEARTHI_MUTEX_REGISTERED);
    free(gone);
    return gone != NULL;
}

int
hearthi_registered_save(struct hearthi_image_writer *w)
{
    int failed = 0;

    hearthi_mutex_lock(&mutex, HEARTHI_MUTEX_REGISTERED);
    for (struct registered *r = first; r != NULL && failed == 0; r = r->next) {
        struct iovec both[2] = { { r->name, sizeof r->name },
                                 { r->p, r->bytes } };

        failed = hearthi_image_put(w, HEARTHI_PART_PRIVATE, r->bytes, both, 2);
    }
    hearthi_mutex_unlock(&mutex, HEARTHI_MUTEX_REGISTERED);
    return failed;
}

void
hearthi_registered_close(void)
{
    while (first != NULL) {
        struct registered *next = first->next;

        free(first);
        first = next;
    }
}
