/* SPDX-License-Identifier: Apache-2.0
 *
 * profile_data - the inside of a profile, shared by the modules of this layer.
 *
 * Reports and exporters use profile.h; this is for what computes over all frames.
 */
#ifndef DWELL_ANALYZE_PROFILE_DATA_H
#define DWELL_ANALYZE_PROFILE_DATA_H

#include "analyze/filter.h"
#include "analyze/profile.h"
#include "analyze/input.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

/* A file kept inside a recording. */
struct profile_blob {
	uint32_t source, blob;
	uint32_t next; /* with the same key, + 1; 0: none */
};

struct profile {
	struct input *sources;
	size_t n_sources;
	VEC(struct profile_column) columns;
	size_t *cpu_column_of; /* [source]: time_column_choose() */
	VEC(struct profile_function) functions;
	VEC(struct profile_frame) frames; /* each location's, outermost first */
	VEC(uint32_t) function_of_sym;	  /* symbolizer's id to ours; MODEL_NONE unset */
	VEC(const char *) image_names;	  /* by symbolizer's image id; NULL unset */
	struct map functions_by_name;	  /* hash of image and name to first id + 1 */
	VEC(uint32_t) same_hash;	  /* chain of functions with one hash, id + 1 */
	struct map shared_by;	 /* function << 32 | symbolizer's image to its function */
	struct map image_labels; /* hash of a path to its label, where not the last
				  * component: image_names.h */
	struct map blobs_by_key; /* of kind and image to the first of them + 1 */
	VEC(struct profile_blob) blobs;
	VEC(struct profile_match) matches;
	struct arena strings;
	struct symbolizer *symbolizer;
	bool is_live;	       /* the symbolizer is borrowed */
	struct filter *filter; /* or NULL */
	bool leaves_calls_out;
};

/* All events are, unless some are named. */
bool profile_wants_event(const struct profile_options *o, const char *name);
bool profile_wants_experiment(const struct profile_options *o, const char *name);
/* An image of a recording as the symbolizer knows it; borrows from the recording. */
struct sym_image_ref profile_image_ref(const struct profile *p, size_t source,
				       uint32_t image);

#endif
