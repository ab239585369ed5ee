/* SPDX-License-Identifier: Apache-2.0
 *
 * recording - a recording opened for reading.
 *
 * Dictionaries are loaded; samples and trace events are streamed block by block with
 * pread, so memory follows the number of distinct things, not the length of the file.
 * A file that is cut or damaged opens up to there and says so.  Immutable once open,
 * unless it is followed: the block readers may be called from several threads, each with
 * its own buffer.
 */
#ifndef DWELL_STORE_RECORDING_H
#define DWELL_STORE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"
#include "store/model.h"
#include "store/model_anchor.h"
#include "store/sample_block.h"

struct block_list;
struct dictionary;
struct gauge;
struct recording;

must_use int recording_open(const char *path, struct recording **ret, struct err *e);

/* The same without interim sums, which are not to be seen beside what is written then: of
 * a recording that is going to be followed. */
must_use int recording_open_growing(const char *path, struct recording **ret,
				    struct err *e);

/* Reads what was appended since by a recorder that still writes: ids stay, samples come
 * in blocks behind those that were there.  Arrays that were borrowed may move, and what
 * is known of a process or thread may be replaced: nobody else may use it meanwhile. */
must_use int recording_follow(struct recording *r, struct err *e);

/* What is wanted of a recording. */
struct recording_part {
	/* Samples whose innermost frame is in an image of this path or base name; NULL:
	 * any. */
	const char *image;
	const char *event; /* name; NULL: any */
};

/* Reads, where the index tells, only the blocks that samples of that part may be in and
 * what they refer to.  Other samples may be there as well.  Ids are those of the whole
 * recording; locations and stacks that no sample which was read refers to are empty. */
must_use int recording_open_part(const char *path, const struct recording_part *part,
				 struct recording **ret, struct err *e);
bool recording_part_has_image(const struct recording_part *part,
			      const struct recording *r, uint32_t image);
void recording_free(struct recording *r);
void recording_freep(struct recording **r);

const char *recording_path(const struct recording *r);
/* What it is called instead, where the path says nothing to people. */
void recording_set_name(struct recording *r, const char *name);
/* One line about where and how the file is damaged or unfinished, or NULL. */
const char *recording_damage(const struct recording *r);
/* The recorder ended in order (a closing index was found). */
bool recording_is_complete(const struct recording *r);
/* It did not, and sums that it had not written are of a moment: of which; and when they
 * were to be renewed. */
bool recording_has_interim(const struct recording *r, uint64_t *ret_time_ns,
			   uint64_t *ret_next_ns);
uint64_t recording_bytes(const struct recording *r);
/* Bytes of the blocks that were read to open it. */
uint64_t recording_read_bytes(const struct recording *r);

/* Dictionaries.  Borrowed pointers; an id out of range gives "" or NULL. */
const char *recording_string(const struct recording *r, uint32_t id);
const char *recording_info(const struct recording *r, const char *key); /* NULL absent */
size_t recording_info_count(const struct recording *r);
void recording_info_at(const struct recording *r, size_t i, const char **key,
		       const char **value);

uint32_t recording_n_images(const struct recording *r);
uint32_t recording_n_locations(const struct recording *r);
uint32_t recording_n_stacks(const struct recording *r); /* the empty stack included */
uint32_t recording_n_processes(const struct recording *r);
uint32_t recording_n_threads(const struct recording *r);
uint32_t recording_n_events(const struct recording *r);
uint32_t recording_n_mappings(const struct recording *r);
uint32_t recording_n_intervals(const struct recording *r);
uint32_t recording_n_facts(const struct recording *r);
uint32_t recording_n_trace_types(const struct recording *r);

const struct model_image *recording_image(const struct recording *r, uint32_t id);
const struct model_process *recording_process(const struct recording *r, uint32_t id);
const struct model_thread *recording_thread(const struct recording *r, uint32_t id);
const struct model_event *recording_event(const struct recording *r, uint32_t id);
const struct model_mapping *recording_mapping(const struct recording *r, uint32_t i);
const struct model_interval *recording_interval(const struct recording *r, uint32_t i);
const struct model_fact *recording_fact(const struct recording *r, uint32_t i);
const struct model_trace_type *recording_trace_type(const struct recording *r,
						    uint32_t id);
/* Whole arrays, for passes over everything.  Every parent is smaller than its child,
 * every id in them is in range: checked on opening. */
const struct model_location *recording_locations(const struct recording *r);
const struct model_stack *recording_stacks(const struct recording *r);

/* The value of a fact, or false. */
bool recording_find_fact(const struct recording *r, enum fact_kind kind, const char *name,
			 uint32_t event, uint32_t process, uint64_t *ret);

size_t recording_n_sample_blocks(const struct recording *r);
/* Samples of block i: all ids in range.  Time range of a block lets a filter skip it. */
must_use int recording_read_samples(const struct recording *r, size_t i,
				    unsigned columns /* enum sample_column */,
				    struct sample_block *b, struct err *e);
void recording_sample_block_range(const struct recording *r, size_t i, uint64_t *from_ns,
				  uint64_t *to_ns, size_t *n);

/* Trace events, in file order. */
typedef int recording_trace_fn(void *ctx, const struct model_trace *t, struct err *e);
must_use int recording_each_trace(const struct recording *r, recording_trace_fn *fn,
				  void *ctx, struct err *e);

/* Basic blocks by id, and the edges between them, in file order. */
uint32_t recording_n_basic_blocks(const struct recording *r);
typedef int recording_basic_block_fn(void *ctx, uint32_t id,
				     const struct model_basic_block *b, struct err *e);
must_use int recording_each_basic_block(const struct recording *r,
					recording_basic_block_fn *fn, void *ctx,
					struct err *e);
typedef int recording_edge_fn(void *ctx, const struct model_edge *edge, struct err *e);
must_use int recording_each_edge(const struct recording *r, recording_edge_fn *fn,
				 void *ctx, struct err *e);

/* In file order. */
typedef int recording_direction_fn(void *ctx, const struct model_direction *d,
				   struct err *e);
must_use int recording_each_direction(const struct recording *r,
				      recording_direction_fn *fn, void *ctx,
				      struct err *e);
typedef int recording_anchor_fn(void *ctx, const struct model_anchor *a, struct err *e);
must_use int recording_each_anchor(const struct recording *r, recording_anchor_fn *fn,
				   void *ctx, struct err *e);

typedef int recording_anchor_way_fn(void *ctx, const struct model_anchor_way *w,
				    struct err *e);
must_use int recording_each_anchor_way(const struct recording *r,
				       recording_anchor_way_fn *fn, void *ctx,
				       struct err *e);

typedef int recording_access_fn(void *ctx, const struct model_access *a, struct err *e);
must_use int recording_each_access(const struct recording *r, recording_access_fn *fn,
				   void *ctx, struct err *e);

typedef int recording_gauge_fn(void *ctx, const struct gauge *g, struct err *e);
must_use int recording_each_gauge(const struct recording *r, recording_gauge_fn *fn,
				  void *ctx, struct err *e);

size_t recording_n_blobs(const struct recording *r);
const struct model_blob *recording_blob(const struct recording *r, size_t i);
must_use int recording_read_blob(const struct recording *r, size_t i, struct buf *ret,
				 struct err *e);

/* For the writer that goes on with it. */
const struct dictionary *recording_dictionary(const struct recording *r);
const struct block_list *recording_blocks(const struct recording *r);
/* Nothing is damaged, though the recorder may not have ended in order. */
bool recording_is_sound(const struct recording *r);

#endif
