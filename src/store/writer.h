/* SPDX-License-Identifier: Apache-2.0
 *
 * writer - makes a recording: interns, batches, and appends whole checksummed blocks.
 *
 * What was flushed survives SIGKILL at any byte.  Interning is in memory and cannot
 * fail; the first failure to write is kept (writer_failed), the file is cut back to its
 * last whole block, later data is counted as lost and the caller goes on.  One thread.
 */
#ifndef DWELL_STORE_WRITER_H
#define DWELL_STORE_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "store/model.h"
#include "store/model_anchor.h"

struct gauge;
struct growing_file;
struct writer;

struct writer_options {
	uint64_t max_bytes; /* stop growing there (a stated loss); 0: no limit */
	bool no_time;	    /* aggregate samples that differ only in time */
	uint32_t uid, gid;  /* owner of the file */
	bool has_owner;
	/* What cannot be written waits in memory, and nothing is lost for that: see
	 * writer_flush() and writer_finish().  A file that is there is not replaced. */
	bool is_patient;
	/* Room for what the end has to tell is kept, so that a full disk is told of. */
	bool keeps_room;
	int level; /* of zstd; 0: fast */
};

/* Creates the file with mode 0600; an existing file is replaced only when it is a
 * recording or empty. */
must_use int writer_create(const char *path, const struct writer_options *options,
			   struct writer **ret, struct err *e);
/* Goes on with a recording that is not damaged: all its ids are known and stay, and what
 * is new is added behind.  For keeping files in it later on. */
must_use int writer_continue(const char *path, struct writer **ret, struct err *e);
/* Flush, write the index and close.  Frees the writer also on failure. */
must_use int writer_close(struct writer *w, struct err *e);
/* The same, but that it is not closed: what waits of a patient one is to be settled. */
must_use int writer_finish(struct writer *w, struct growing_file *ret, struct err *e);
void writer_free(struct writer *w); /* drop without the final flush */
void writer_freep(struct writer **w);

/* Dictionaries: same content, same id. */
uint32_t writer_string(struct writer *w, const char *s);
uint32_t writer_strn(struct writer *w, const char *s, size_t n);
uint32_t writer_image(struct writer *w, const struct model_image *image);
uint32_t writer_location(struct writer *w, uint32_t image, uint64_t offset,
			 uint32_t flags);
uint32_t writer_stack(struct writer *w, uint32_t parent, uint32_t location);
/* All stacks so far by their ids; the caller's to free. */
struct model_stack *writer_stacks(const struct writer *w);

/* Always new. */
uint32_t writer_event(struct writer *w, const struct model_event *event);
uint32_t writer_process(struct writer *w, const struct model_process *process);
uint32_t writer_thread(struct writer *w, const struct model_thread *thread);
uint32_t writer_trace_type(struct writer *w, const struct model_trace_type *type);
/* What is known now of an older one (its end, its name); the last update wins. */
const struct model_process *writer_process_get(const struct writer *w, uint32_t id);
const struct model_thread *writer_thread_get(const struct writer *w, uint32_t id);
void writer_process_update(struct writer *w, uint32_t id,
			   const struct model_process *process);
void writer_thread_update(struct writer *w, uint32_t id,
			  const struct model_thread *thread);

/* Data. */
void writer_sample(struct writer *w, const struct model_sample *sample);
void writer_trace(struct writer *w, const struct model_trace *trace);
/* Its id, for edges. */
uint32_t writer_basic_block(struct writer *w, const struct model_basic_block *block);
void writer_edge(struct writer *w, const struct model_edge *edge);
void writer_direction(struct writer *w, const struct model_direction *direction);
void writer_anchor(struct writer *w, const struct model_anchor *anchor);
void writer_anchor_way(struct writer *w, const struct model_anchor_way *way);
void writer_gauge(struct writer *w, const struct gauge *gauge);
void writer_access(struct writer *w, const struct model_access *access);
void writer_mapping(struct writer *w, const struct model_mapping *mapping);
void writer_interval(struct writer *w, const struct model_interval *interval);
void writer_fact(struct writer *w, const struct model_fact *fact);
/* Text about the recording: "command", "host", "experiments", "comment" …; the last
 * one of a key wins.  Keys are listed in docs/format.md. */
void writer_info(struct writer *w, const char *key, const char *value);
/* Keep a file inside; written at once, in pieces, compressed. */
must_use int writer_blob(struct writer *w, const struct model_blob *blob,
			 const void *data, struct err *e);

/* Between begin and end facts, samples and trace events do not go on: they are sums that
 * will be told later on, as they are at time_ns, and are read only of a recording that is
 * not closed.  They take the place of those before.  next_ns: when they are to be
 * renewed. A failure to write them is none of the writer's: those before stay.  False:
 * there is no place for such. */
must_use bool writer_interim_begin(struct writer *w);
must_use int writer_interim_end(struct writer *w, uint64_t time_ns, uint64_t next_ns,
				struct err *e);
/* In between: from here on they are of one origin, by the number that it has; 0: a new
 * one.  Returns it. */
uint32_t writer_interim_of(struct writer *w, uint32_t number);
/* There is nothing to be told later on. */
void writer_interim_drop(struct writer *w);
/* Between these an origin tells the last of its sums, and nobody anything else; they take
 * the place of its interim ones when they are all written. */
void writer_last_sums_begin(struct writer *w, uint32_t number);
void writer_last_sums_end(struct writer *w, uint32_t number);

/* All that was taken so far becomes whole blocks on disk (not fsynced).  What waits of a
 * patient one is tried again; a failure means that something waits on. */
must_use int writer_flush(struct writer *w, struct err *e);
/* Flush when the batch is large or was begun more than a second ago. */
must_use int writer_tick(struct writer *w, uint64_t now_ns, struct err *e);
/* What was taken just now are sums since then: they wait no longer than if they had been
 * taken then. */
void writer_date(struct writer *w, uint64_t since_ns);
/* The first failure, or NULL. */
const struct err *writer_failed(const struct writer *w);
uint64_t writer_bytes(const struct writer *w); /* what waits included */
uint64_t writer_waiting_bytes(const struct writer *w);
uint64_t writer_lost_samples(const struct writer *w);

#endif
