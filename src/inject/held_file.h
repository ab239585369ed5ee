/* SPDX-License-Identifier: Apache-2.0
 *
 * held_file - a file of which the process may have a record lock (POSIX's, by fcntl),
 * which it would lose if it opened and closed the file.
 *
 * By bare system calls, in whatever process looks.
 */
#ifndef DWELL_INJECT_HELD_FILE_H
#define DWELL_INJECT_HELD_FILE_H

#define HELD_FILE_NONE	     -1 /* it may be opened and closed */
#define HELD_FILE_UNREADABLE -2

/* A descriptor that the process has of the file at a path, to be read by, if it has any
 * record lock; or one of these. */
int held_file_at(int directory_fd, const char *path);

#endif
