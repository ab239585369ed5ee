/* SPDX-License-Identifier: Apache-2.0
 *
 * What programs that go on until their input ends have in common: blocks_lasting.c.
 */
#ifndef DWELL_TESTS_BLOCKS_LASTING_H
#define DWELL_TESTS_BLOCKS_LASTING_H

#include <stdatomic.h>
#include <stdbool.h>

#define FIRST_WRONG 128

extern atomic_int n_wrong, is_over;
extern char first_wrong[FIRST_WRONG];

void expect(bool is_right, const char *what, long n);

/* Works until there is input. */
void loop(void);

/* Such as forbid themselves calls, or lock their memory: blocks_restricted.c. */
void filter(void);
void no_code(void);
void pinned(void);
void deadly(void);
void sealed(void);
void strict(void);
void locked(void);

#endif
