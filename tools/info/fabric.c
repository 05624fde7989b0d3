/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The fabrics that libfabric finds here.  It is looked for at run time: an MPI
 * may bring a libfabric of its own, older or newer than the system's, and a
 * program that is linked with the one and gets the other does not link, or
 * does not start any more once either is replaced.  Of what fi_getinfo gives
 * only members are read that stand where they stood in libfabric 1.5, since
 * new ones have been added behind them.
 */
#include "config.h"

#include "info.h"

#ifdef HAVE_LIBFABRIC

#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <string.h>

static struct {
    __typeof__(fi_version)  *version;
    __typeof__(fi_getinfo)  *getinfo;
    __typeof__(fi_freeinfo) *freeinfo;
    __typeof__(fi_strerror) *strerror;
} fabric;

static bool
function_find(void *library, const char *name, void *slot)
{
    void *found = dlsym(library, name);

    memcpy(slot, &found, sizeof found);
    return found != NULL;
}

/* The one that MPI has loaded, if it has, since the name is the same; else
 * the system's. */
static bool
library_find(void)
{
    void *library = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);

    if (library == NULL)
        return false;
    return function_find(library, "fi_version", &fabric.version) &&
           function_find(library, "fi_getinfo", &fabric.getinfo) &&
           function_find(library, "fi_freeinfo", &fabric.freeinfo) &&
           function_find(library, "fi_strerror", &fabric.strerror);
}

/* The list has an entry for each domain, endpoint type and address; a reader
 * wants each provider and network once. */
static bool
seen_before(const struct fi_info *list, const struct fi_info *at)
{
    for (; list != at; list = list->next) {
        if (strcmp(list->fabric_attr->prov_name, at->fabric_attr->prov_name) ==
                0 &&
            strcmp(list->domain_attr->name, at->domain_attr->name) == 0)
            return true;
    }
    return false;
}

/* Any entry of this provider and domain with one-sided operations. */
static bool
has_rma(const struct fi_info *at)
{
    const char *provider = at->fabric_attr->prov_name;
    const char *domain = at->domain_attr->name;

    for (; at != NULL; at = at->next) {
        if ((at->caps & FI_RMA) != 0 &&
            strcmp(provider, at->fabric_attr->prov_name) == 0 &&
            strcmp(domain, at->domain_attr->name) == 0)
            return true;
    }
    return false;
}

void
info_fabrics_print(void)
{
    struct fi_info *list = NULL;
    uint32_t        v;
    int             st;

    if (!library_find()) {
        printf("\nFabric providers\n  not known: %s\n", dlerror());
        return;
    }
    v = fabric.version();
    printf("\nFabric providers (libfabric %u.%u)\n", FI_MAJOR(v), FI_MINOR(v));
    st = fabric.getinfo(FI_VERSION(1, 5), NULL, NULL, 0, NULL, &list);
    if (st != 0) {
        printf("  none: %s\n", fabric.strerror(-st));
        return;
    }
    for (const struct fi_info *i = list; i != NULL; i = i->next) {
        if (!seen_before(list, i))
            printf("  %-18s %-16s %s\n", i->fabric_attr->prov_name,
                   i->domain_attr->name,
                   has_rma(i) ? "one-sided" : "messages only");
    }
    fabric.freeinfo(list);
}

#else

void
info_fabrics_print(void)
{
    printf("\nFabric providers\n"
           "  not known: this hearth-info was built without rdma/fabric.h\n");
}

#endif
