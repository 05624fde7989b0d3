/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "reuse_predictor.h"

#include "page/page.h"

/* How often it was used in a row, up to MANY, and how often it must be. */
enum { MANY = 15, LEVEL = 16, LEVELS = 4, SAMPLE = 16 };
static const uint8_t need[LEVELS] = { 2, 4, 8, MANY };

static uint8_t *
habit(uint64_t page)
{
    return &hearthi_table.habit[page];
}

bool
hearthi_reuse_predictor_used(uint64_t page)
{
    uint8_t *h = habit(page);
    unsigned row = *h % LEVEL, level = *h / LEVEL;

    if (row < MANY)
        row++;
    else if (level > 0)
        level--;
    *h = (uint8_t)(level * LEVEL + row);
    return row >= need[level];
}

/* One that was used for long may be left out once. */
bool
hearthi_reuse_predictor_missed(uint64_t page)
{
    uint8_t *h = habit(page);
    unsigned row = *h % LEVEL, level = *h / LEVEL;
    bool     sure = row == MANY;

    if (row > MANY / 2)
        row -= MANY / 2 + 1;
    else
        row = 0;
    if (row == 0 && level < LEVELS - 1)
        level++;
    *h = (uint8_t)(level * LEVEL + row);
    return sure;
}

bool
hearthi_reuse_predictor_is_sure(uint64_t page, uint64_t round)
{
    return *habit(page) == MANY && (page + round) % SAMPLE != 0;
}
