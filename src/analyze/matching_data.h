/* SPDX-License-Identifier: Apache-2.0
 *
 * matching_data - what the steps of matching share.
 */
#ifndef DWELL_ANALYZE_MATCHING_DATA_H
#define DWELL_ANALYZE_MATCHING_DATA_H

#include "analyze/profile_data.h"

struct matching_image {
	const char *name;
	bool *is_in;	  /* [source] */
	uint32_t same_as; /* itself, or the image that it is taken for */
	char *stem;	  /* of the name: name_stem.h */
	uint32_t first;	  /* of its functions, + 1; the next is in next_of_image */
	uint32_t n_named; /* functions whose names say something */
	uint8_t kind;	  /* enum image_kind */
	bool is_program;  /* that was run and recorded */
	bool is_of_runs;  /* all its recordings are of one command, none of a machine */
};

struct matching {
	struct profile *p;
	size_t n_sources;
	bool may_guess;
	bool *is_in;	    /* [function * n_sources + source] */
	uint32_t *build;    /* the same: the symbolizer's image that it is in there */
	uint32_t *image_of; /* [function] */
	uint32_t *next_of_image; /* [function]: the next in its image, + 1; 0: none */
	VEC(struct matching_image) images;
};

/* Whether a function is one of those that every program has: main, _start … */
bool matching_is_generic(const char *name);
/* The function that stands for it so far. */
uint32_t matching_root(const struct matching *m, uint32_t function);
/* Not matched to another, and missing somewhere. */
bool matching_is_open(const struct matching *m, uint32_t function);
/* The image that stands for it. */
uint32_t matching_image_root(const struct matching *m, uint32_t image);
/* No recording has both, and no build: there they would be two. */
bool matching_may_be_one(const struct matching *m, uint32_t a, uint32_t b);
/* The builds of a have a function of its name besides itself, or those of b have one. */
bool matching_has_namesake(const struct matching *m, uint32_t a, uint32_t b);
/* The builds of `other` have a function of this name. */
bool matching_is_in_build(const struct matching *m, uint32_t function, uint32_t other);
/* The one is the other.  how: why, or NULL where names say all. */
void matching_unite(struct matching *m, uint32_t function, uint32_t is, const char *how,
		    bool is_guess);

void matching_images_unite(struct matching *m);
void matching_names_unite(struct matching *m);
void matching_shapes_unite(struct matching *m);

#endif
