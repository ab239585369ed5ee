/* SPDX-License-Identifier: Apache-2.0
 *
 * path - file names without detours.
 */
#ifndef DWELL_SYM_PATH_H
#define DWELL_SYM_PATH_H

#include <stddef.h>

/* Removes "//", "/./" and "dir/.." in place; the new length.  One file is then one
 * text, whatever directory its units were compiled in. */
size_t path_normalize(char *path, size_t n);

#endif
