/* SPDX-License-Identifier: Apache-2.0
 *
 * probe_notes - the probes that a file says it has (USDT): notes of "stapsdt".
 *
 * A note tells a place in the code, the probe's provider and name, where its arguments
 * are there, and a counter of who wants it, which the program may ask.  A probe has as
 * many notes as places.  The notes are borrowed and live as long as the object.  One
 * thread.
 */
#ifndef DWELL_SYM_PROBE_NOTES_H
#define DWELL_SYM_PROBE_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

struct probe_notes;

struct probe_note {
	const char *provider, *name;
	const char *arguments;	     /* a list for probe_operand_nth() */
	uint64_t address, semaphore; /* as linked; 0: there is none */
	/* In the file; 0: it is not there, or not where it should be. */
	uint64_t offset, semaphore_offset;
};

must_use int probe_notes_open(const char *path, struct probe_notes **ret, struct err *e);
/* Of a section's bytes, which are borrowed.  base: where the mark is that notes tell as
 * well, so that it shows by how much the file was moved since; 0: there is no mark. */
must_use int probe_notes_parse(const void *bytes, size_t size, bool is_64, uint64_t base,
			       struct probe_notes **ret, struct err *e);
void probe_notes_free(struct probe_notes *p);
void probe_notes_freep(struct probe_notes **p);

unsigned probe_notes_machine(const struct probe_notes *p); /* EM_… */
/* By provider, name and address, each place of a probe once. */
size_t probe_notes_count(const struct probe_notes *p);
const struct probe_note *probe_notes_at(const struct probe_notes *p, size_t i);
/* The first of "PROVIDER:NAME", and how many there are, behind each other. */
size_t probe_notes_find(const struct probe_notes *p, const char *name, size_t *ret_first);
/* One that is spelled most like it; NULL: none is. */
const struct probe_note *probe_notes_nearest(const struct probe_notes *p,
					     const char *name);

#endif
