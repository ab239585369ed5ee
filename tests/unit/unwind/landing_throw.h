/* SPDX-License-Identifier: Apache-2.0
 *
 * landing_throw - C++ that throws, for tests in C.
 */
#ifndef DWELL_TESTS_LANDING_THROW_H
#define DWELL_TESTS_LANDING_THROW_H

#ifdef __cplusplus
extern "C" {
#endif

/* Throws below that many frames, some of which have something to clean up, and catches:
 * returns what was thrown. */
int landing_throw(int depth);

#ifdef __cplusplus
}
#endif

#endif
