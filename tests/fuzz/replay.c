/* SPDX-License-Identifier: BSD-2-Clause
 *
 * In place of libFuzzer, where there is none: the target is given each file of
 * the folders that are named (fuzz.sh).
 */
#include <dirent.h>
#include <stdio.h>

#include "fuzz.h"

enum { MOST = 1 << 20 };

static bool
file_give(const char *folder, const char *name)
{
    static char path[4096];
    uint8_t    *data = malloc(MOST);
    FILE       *f;
    size_t      len;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "r");
    if (f == NULL || data == NULL) {
        perror(path);
        return false;
    }
    len = fread(data, 1, MOST, f);
    fclose(f);
    data = realloc(data, len + 1); /* a byte behind the end is found */
    LLVMFuzzerTestOneInput(data, len);
    free(data);
    return true;
}

int
main(int argc, char **argv)
{
    int files = 0;

    for (int i = 1; i < argc; i++) {
        DIR           *d = opendir(argv[i]);
        struct dirent *e;

        while (d != NULL && (e = readdir(d)) != NULL)
            if (e->d_name[0] != '.') {
                if (!file_give(argv[i], e->d_name))
                    return 1;
                files++;
            }
        if (d != NULL)
            closedir(d);
    }
    printf("%d inputs\n", files);
    return files == 0;
}
