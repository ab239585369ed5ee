/* SPDX-License-Identifier: Apache-2.0
 *
 * scratch_directory - an empty directory for each test, removed with all that is in it.
 */
#ifndef DWELL_SUPPORT_SCRATCH_DIRECTORY_H
#define DWELL_SUPPORT_SCRATCH_DIRECTORY_H

extern char scratch_directory_path[];

int scratch_directory_make(void **state);   /* a cmocka set-up */
int scratch_directory_remove(void **state); /* and its tear-down */

#endif
