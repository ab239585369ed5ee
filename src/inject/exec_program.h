/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_program - a program that is about to be executed, and whether a library can be
 * loaded into it.
 *
 * By bare system calls, in whatever process is to execute it.
 */
#ifndef DWELL_INJECT_EXEC_PROGRAM_H
#define DWELL_INJECT_EXEC_PROGRAM_H

#include <stdbool.h>

/* Has it a dynamic linker, which loads code of this machine, and whatever it is told to?
 * Of a script: has its interpreter? */
bool exec_program_is_dynamic(int fd);

/* By path, as the kernel takes it. */
bool exec_program_at(int directory_fd, const char *path);
/* By name, as it is looked for in a list of directories; NULL: the usual ones. */
bool exec_program_named(const char *name, const char *list);

#endif
