/* SPDX-License-Identifier: Apache-2.0
 *
 * dimension - what a report's rows can be: one table, a dimension a line.
 *
 * A dimension maps a frame, a stack or a sample to a 64-bit key and says what rows with
 * that key are called.  Keys that are texts are interned in the context.
 */
#ifndef DWELL_ANALYZE_DIMENSION_H
#define DWELL_ANALYZE_DIMENSION_H

#include "analyze/profile.h"
#include "base/buf.h"
#include "base/intern.h"

struct input;

struct dimension_context {
	const struct profile *profile;
	struct intern *texts;
};

/* What a row is called; the texts are borrowed from the profile or the buffer. */
struct dimension_label {
	struct buf name;
	const char *image, *file; /* or NULL */
	uint32_t line, function;  /* 0 unknown; MODEL_NONE none */
	uint64_t address;	  /* 0 unknown */
	/* Of an instruction: the function in whose code it is, whatever is inlined there,
	 * and the symbolizer's image that the address is in. */
	uint32_t code_function, build;
};

enum dimension_scope { DIMENSION_FRAME, DIMENSION_STACK, DIMENSION_SAMPLE };

struct dimension {
	const char *name, *title, *summary;
	enum dimension_scope scope;
	bool is_sentence; /* labels are cut at their end: what matters is in front */
	unsigned columns; /* of the samples, enum sample_column */
	uint64_t (*frame_key)(struct dimension_context *c, const struct profile_frame *f);
	uint64_t (*stack_key)(struct dimension_context *c, uint32_t source,
			      uint32_t stack);
	uint64_t (*sample_key)(struct dimension_context *c, uint32_t source,
			       const struct sample_block *b, size_t i);
	/* Of a key that one recording only can have: what makes rows of several
	 * recordings the same one.  NULL: keys are shared anyway. */
	void (*shared_name)(const struct dimension_context *c, uint64_t key,
			    struct buf *ret);
	/* `frame` is one that has the key, NULL outside DIMENSION_FRAME. */
	void (*label)(const struct dimension_context *c, uint64_t key,
		      const struct profile_frame *frame, struct dimension_label *ret);
};

/* The names, for options. */
#define DIMENSION_NAMES                                                                  \
	"function|image|file|line|instruction|stack|mode|thread|process|command|"        \
	"cgroup|cpu|host|epoch|interval|event|call"

extern const struct dimension dimensions[]; /* ends with .name NULL */

const struct dimension *dimension_find(const char *name);

#endif
