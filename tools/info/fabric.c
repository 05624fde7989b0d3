/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "info.h"

#ifdef HAVE_LIBFABRIC

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <string.h>

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
    uint32_t        v = fi_version();
    int             st;

    printf("\nFabric providers (libfabric %u.%u)\n", FI_MAJOR(v), FI_MINOR(v));
    st = fi_getinfo(FI_VERSION(1, 5), NULL, NULL, 0, NULL, &list);
    if (st != 0) {
        printf("  none: %s\n", fi_strerror(-st));
        return;
    }
    for (const struct fi_info *i = list; i != NULL; i = i->next) {
        if (!seen_before(list, i))
            printf("  %-18s %-16s %s\n", i->fabric_attr->prov_name,
                   i->domain_attr->name,
                   has_rma(i) ? "one-sided" : "messages only");
    }
    fi_freeinfo(list);
}

#else

void
info_fabrics_print(void)
{
    printf("\nFabric providers\n"
           "  not known: this hearth-info was built without libfabric\n");
}

#endif
