/* SPDX-License-Identifier: Apache-2.0
 *
 * proc_maps - reads the text of /proc/PID/maps.
 */
#ifndef DWELL_HOST_PROC_MAPS_H
#define DWELL_HOST_PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proc_map {
	uint64_t start, end, file_offset, inode;
	uint32_t dev_major, dev_minor;
	bool is_exec, is_writable, is_shared, is_deleted;
	char path[4096]; /* "" of anonymous memory; without " (deleted)", unescaped */
};

/* Parse the line at *text (up to end), and move on to the next one.  False at the end;
 * lines that are not in the kernel's form are skipped. */
bool proc_maps_next(const char **text, const char *end, struct proc_map *ret);

#endif
