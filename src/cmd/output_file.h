/* SPDX-License-Identifier: Apache-2.0
 *
 * output_file - a file that a command writes whole or not at all.
 */
#ifndef DWELL_CMD_OUTPUT_FILE_H
#define DWELL_CMD_OUTPUT_FILE_H

/* A limit of the size of files makes write() fail, as a full disk does. */
void output_file_allow_failure(void);
/* Remove what was begun; a device or a pipe stays. */
void output_file_discard(const char *path);

#endif
