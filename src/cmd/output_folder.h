/* SPDX-License-Identifier: Apache-2.0
 *
 * output_folder - a directory of files that a command writes: all of them or none.
 *
 * It is made with the first file, where it is not there yet; other files in it stay.
 */
#ifndef DWELL_CMD_OUTPUT_FOLDER_H
#define DWELL_CMD_OUTPUT_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "export/exporter.h"

struct output_folder {
	struct export_sink sink; /* must be first */
	const char *path;	 /* borrowed */
	bool is_new;
	VEC(char *) files;    /* their paths */
	VEC(char *) left_out; /* lines */
	VEC(char *) told;
};

void output_folder_init(struct output_folder *f, const char *path);
void output_folder_fini(struct output_folder *f);
/* Remove what was begun. */
void output_folder_discard(struct output_folder *f);
uint64_t output_folder_bytes(const struct output_folder *f);

#endif
