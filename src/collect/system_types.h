/* SPDX-License-Identifier: Apache-2.0
 *
 * system_types - the kernel's types that BPF programs name, apart from all others.
 *
 * libbpf adapts programs to the kernel by looking for each type that they name among all
 * that the kernel has, and takes the length of each name as it goes: a third of the time
 * that loading takes.  From a file in which there is nothing else that has a name it is
 * done at once.
 */
#ifndef DWELL_COLLECT_SYSTEM_TYPES_H
#define DWELL_COLLECT_SYSTEM_TYPES_H

#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

struct bpf_object;
struct btf;

struct system_types {
	struct btf *kernel; /* all; NULL: they cannot be had, as who loads will say */
	int fd;		    /* -1 without */
	char path[32];	    /* of a file of this process */
};

#define SYSTEM_TYPES_NONE                                                                \
	{                                                                                \
		.fd = -1                                                                 \
	}

void system_types_init(struct system_types *ret);
/* For bpf_object_open_opts.btf_custom_path; NULL: as if it were not for us. */
const char *system_types_path(const struct system_types *t);
/* Those that an object names that was opened with the path; before it is loaded. */
must_use int system_types_pick(const struct system_types *t, const struct bpf_object *o,
			       struct err *e);
void system_types_fini(struct system_types *t);

/* The bytes of what of all types has a name that is wanted, and is within such, by the
 * same numbers; what a pointer is to is left out.  The caller frees them. */
void *system_types_of(const struct btf *all, const struct btf *wanted,
		      uint32_t *ret_bytes);

#endif
