/* SPDX-License-Identifier: Apache-2.0
 *
 * tally - counts per (event, thread, cpu, stack), gathered in memory and written as one
 * recording without time: a segment of a database.
 *
 * What is equal is one thing, whoever says it: strings, images (by build-id and path),
 * locations, stacks, events, processes and threads.  The daemon feeds it with samples,
 * merging with whole recordings.  The same content gives the same bytes, in whatever
 * order it came.  Nothing fails before it is written.  One thread.
 */
#ifndef DWELL_STORE_TALLY_H
#define DWELL_STORE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "store/model.h"

struct recording;
struct tally;

struct tally *tally_new(void);
void tally_free(struct tally *t);
void tally_freep(struct tally **t);

/* Same content, same id.  Of an image without build-id size and time are content, too;
 * of an event only name, unit, experiment and flags: where periods or sources differ,
 * the period is 0 and the sources are listed. */
uint32_t tally_string(struct tally *t, const char *s);
uint32_t tally_strn(struct tally *t, const char *s, size_t n);
uint32_t tally_image(struct tally *t, const struct model_image *image);
uint32_t tally_location(struct tally *t, uint32_t image, uint64_t offset, uint32_t flags);
uint32_t tally_stack(struct tally *t, uint32_t parent, uint32_t location);
uint32_t tally_event(struct tally *t, const struct model_event *event);
/* A process by its pid and names; of pid 0 all processes of these names.  Times are
 * not content: the earliest start and the latest end stay (0: not known).  Who forked
 * and who exec'ed whom is not kept. */
uint32_t tally_process(struct tally *t, const struct model_process *process);
uint32_t tally_thread(struct tally *t, const struct model_thread *thread);

/* Adds count and weight; the time is not kept.  cpu MODEL_NONE: any. */
void tally_sample(struct tally *t, const struct model_sample *sample);
/* Adds the numbers to what there is of the same process, location and target. */
void tally_direction(struct tally *t, const struct model_direction *direction);
/* Of the same process and location; of strides the most frequent stay. */
void tally_access(struct tally *t, const struct model_access *access);
/* Adds to the fact of that kind, name, event and process; of what is no sum (max-rss,
 * requested-period …) the largest stays. */
void tally_fact(struct tally *t, const struct model_fact *fact);
/* Replaces what there was of the key. */
void tally_info(struct tally *t, const char *key, const char *value);
const char *tally_info_get(const struct tally *t, const char *key); /* NULL: none */
/* A file to be kept inside; the same one is kept once.  The image may be MODEL_NONE. */
void tally_blob(struct tally *t, const struct model_blob *blob, const void *data);

/* The memory it has, all in all. */
size_t tally_bytes(const struct tally *t);
uint64_t tally_n_samples(const struct tally *t); /* the sum of all counts */
size_t tally_n_rows(const struct tally *t);
/* Samples, directions, accesses, facts and files are gone; all ids stay good.  The memory
 * of what had been counted is used again. */
void tally_restart(struct tally *t);
/* Everything is gone, ids as well. */
void tally_clear(struct tally *t);

struct tally_fold {
	bool processes; /* by command, executable and cgroup, not by pid */
	const struct path_choice *chosen; /* but for those of these executables */
	bool threads;			  /* by name, not by tid */
	bool cpus;			  /* all together */
	bool origin; /* processes say their host and epoch: several are merged */
	/* Only these, or NULL: all. */
	const bool *images; /* by id: samples whose innermost frame is in one, and
			     * what is told of its code */
};

/* Everything of a recording but its trace events and times.  A recording that is damaged
 * gives what can be read; an error of the system stops half-way. */
must_use int tally_add_recording(struct tally *t, const struct recording *r,
				 const struct tally_fold *fold, struct err *e);

struct tally_write_options {
	int level;	   /* of zstd; 0: fast */
	uint32_t uid, gid; /* owner of the file */
	bool has_owner;
};

/* Creates a recording of mode 0600 with all that samples refer to, and no more.  Does
 * not fsync.  What was counted stays. */
must_use int tally_write(const struct tally *t, const char *path,
			 const struct tally_write_options *o, struct err *e);

#endif
