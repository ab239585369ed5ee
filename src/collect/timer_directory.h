/* SPDX-License-Identifier: Apache-2.0
 *
 * timer_directory - where recorder and targets meet (wire/sampler.h).
 *
 * A private directory in memory with the control file and the library; the library's
 * folder is named by $PLATFORM, which the dynamic linker of each kind of program
 * expands for itself.
 */
#ifndef DWELL_COLLECT_TIMER_DIRECTORY_H
#define DWELL_COLLECT_TIMER_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "wire/sampler.h"

/* What is loaded into the targets, as bytes. */
struct timer_library {
	const char *name; /* of its file */
	const unsigned char *data, *data_32bit;
	const size_t *size, *size_32bit;
};

struct timer_directory {
	const struct timer_library *library;   /* borrowed */
	char path[WIRE_SAMPLER_DIRECTORY_MAX]; /* "": none */
	int fd;
	uid_t owner;
	int control_fd; /* written by pwrite: the target may cut the file */
	uint64_t ring_bytes;
	uint32_t n_rings;  /* in the control file */
	uint64_t known_ns; /* all that was there when it was changed last, at that time,
			    * is known; 0: not */
	bool is_preloaded; /* environments of programs name a library in it */
};

must_use int timer_directory_make(struct timer_directory *d,
				  const struct wire_sampler_control *control,
				  const struct timer_library *library, uint32_t n_rings,
				  struct err *e);
/* A pipe with the name WIRE_SAMPLER_BELL, to be read without waiting; it never ends. */
must_use int timer_directory_add_bell(const struct timer_directory *d, int *ret_fd,
				      struct err *e);
/* Hand it to the user as whom the target runs. */
must_use int timer_directory_give(struct timer_directory *d, uid_t uid, gid_t gid,
				  struct err *e);
/* Add rings to the control file, as many as there are.  A system that has
 * no memory for more goes on with those. */
void timer_directory_add_rings(struct timer_directory *d);
/* What LD_PRELOAD must name; cap TIMER_DIRECTORY_PRELOAD_MAX. */
#define TIMER_DIRECTORY_PRELOAD_MAX (WIRE_SAMPLER_DIRECTORY_MAX + 48)
void timer_directory_preload(const struct timer_directory *d, char *ret);
/* Is the file at that path a library of ours that such a list names?  In a container the
 * directory is at another path, and its name is no other's. */
bool timer_directory_is_preloaded(const char *list, const char *path);
/* is_used: there are programs that go on without us.  If the library is preloaded they
 * may start others, whose dynamic linker would complain when it is gone: it stays. */
void timer_directory_remove(struct timer_directory *d, bool is_used);

#endif
