/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Bounds.  What overflows one of them says more than was written, perhaps
 * "invalidate_all", and must be as right as what fits.  A library compiled
 * with -DHEARTHI_SMALL_BOUNDS, for tests only, has ones so small that they
 * overflow all the time.
 */
#ifndef HEARTHI_TEST_LIMITS_H
#define HEARTHI_TEST_LIMITS_H

#ifdef HEARTHI_SMALL_BOUNDS
#define HEARTHI_TEST_LIMIT(usual, small) (small)
#else
#define HEARTHI_TEST_LIMIT(usual, small) (usual)
#endif

#endif
