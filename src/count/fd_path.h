/* SPDX-License-Identifier: Apache-2.0
 *
 * fd_path - where an open file is.
 */
#ifndef DWELL_COUNT_FD_PATH_H
#define DWELL_COUNT_FD_PATH_H

#include <stddef.h>

/* NULL: nobody can tell. */
const char *fd_path(int fd, char *path, size_t size);

#endif
