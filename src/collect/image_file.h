/* SPDX-License-Identifier: Apache-2.0
 *
 * image_file - the file behind a mapping of code, found while it can still be found.
 *
 * It is looked for where the process sees it: by its path, below /proc/PID/root, or
 * through /proc/PID/map_files when it was deleted; what is found must have the identity
 * (build-id or inode) that the kernel reported.
 */
#ifndef DWELL_COLLECT_IMAGE_FILE_H
#define DWELL_COLLECT_IMAGE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/executable.h"
#include "store/writer.h"

struct tracker_mmap;

struct image_file {
	char *name;	 /* as the process named it, without " (deleted)" */
	char *path;	 /* the file's own name; NULL: name is it */
	char *host_path; /* where we found it, if it can be found there again, or NULL */
	struct executable executable; /* zeros when not found */
	int fd;			      /* -1: not found, or taken */
	bool is_found;
	uint8_t kind, flags; /* enum image_kind, enum image_flag */
	uint8_t build_id_size, build_id[MODEL_BUILD_ID_MAX];
};

/* Is this one of the kernel's names for what is no file? */
bool image_file_is_anonymous(const char *path);
/* Of a path, without " (deleted)". */
size_t image_file_name_length(const char *path);

/* Cannot fail: what was not found has its name and flags alone. */
void image_file_open(struct image_file *ret, uint32_t pid, const struct tracker_mmap *m);
void image_file_fini(struct image_file *f);
/* As a recording has it. */
void image_file_model(const struct image_file *f, struct writer *w,
		      struct model_image *ret);

#endif
