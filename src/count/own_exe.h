/* SPDX-License-Identifier: Apache-2.0
 *
 * own_exe - /proc/self/exe, which is the engine's and is to be the program's.
 */
#ifndef DWELL_COUNT_OWN_EXE_H
#define DWELL_COUNT_OWN_EXE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The program's file, as all may open it. */
void own_exe_set(const char *path);

/* The same, or NULL: name is another's. */
const char *own_exe_of(const char *name);

/* By where the program has the name. */
const char *own_exe_at(uint64_t name);

#endif
