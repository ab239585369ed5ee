/* SPDX-License-Identifier: Apache-2.0
 *
 * scratch_file - a path of its own for every test of a program that writes a file.
 *
 * Set-up and tear-down of cmocka: the file does not exist before the test nor after it.
 */
#ifndef DWELL_SUPPORT_SCRATCH_FILE_H
#define DWELL_SUPPORT_SCRATCH_FILE_H

extern char scratch_file_path[64];

int scratch_file_make(void **state);
int scratch_file_remove(void **state);

#endif
