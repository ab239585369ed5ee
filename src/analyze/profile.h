/* SPDX-License-Identifier: Apache-2.0
 *
 * profile - recordings aggregated and named: what every report and exporter reads.
 *
 * A profile is made of one or more recordings.  Its columns are (recording, event)
 * pairs; functions are shared between recordings (same image name and function name, of
 * several in one image the one from the same source file), frames are places in functions
 * with file, line and inlining.  Samples that pass the filter are summed per distinct
 * stack.  Immutable once loaded; borrowed pointers.
 */
#ifndef DWELL_ANALYZE_PROFILE_H
#define DWELL_ANALYZE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "store/recording.h"
#include "sym/symbolizer.h"

struct profile;

struct profile_options {
	const char *filter;	   /* filter expression, or NULL */
	const char *const *events; /* NULL-terminated names; NULL: all */
	const char *experiment;	   /* the events of this one only; NULL: of all */
	bool no_inline;
	bool is_compared; /* match what is the same in several recordings: matching.h */
	bool no_guess;	  /* by names only */
	const struct sym_options *sym; /* or NULL */
	/* Where every instruction was counted: ideal time is a column though it is not
	 * named, and inclusive values are what calls add up to. */
	bool is_worked_out;
	bool is_for_code; /* the model is for other things, too: no column need have it */
	const char *model; /* of a machine, for ideal time; NULL: the recording's */
	double clock_ghz;  /* for the same; 0: the recording's */
	const char *const *names; /* what the recordings are called; NULL: paths */
};

struct profile_column {
	uint32_t source;       /* index of the recording */
	uint32_t event;	       /* event id in it; MODEL_NONE: the sum of its parts */
	uint32_t source_event; /* the same, or the event that it is computed from */
	uint32_t whole;	       /* the column that this one is a part of, or MODEL_NONE */
	const char *name;      /* event name; unique among the columns of one source */
	const char *unit, *experiment, *collected_by;
	uint64_t period;
	uint64_t total_weight, total_count; /* after the filter */
};

struct profile_function {
	const char *name;      /* demangled */
	const char *label;     /* the same, with its place if others are called so, too */
	const char *linkage;   /* or NULL */
	const char *image;     /* short name: libc.so.6, [kernel], [jit] node */
	const char *own_image; /* the same, before it was matched to another's */
	const char *image_path;
	const char *decl_file; /* or NULL */
	uint32_t decl_line;
	uint64_t start, size; /* link-time; 0 unknown */
	uint32_t sym_image, sym_function;
	uint32_t same_as; /* itself, or the function whose frames its own became:
			   * matching.h, io_peers.h */
	uint8_t kind;	  /* enum image_kind */
	bool is_resolved;
	bool is_later; /* the first of several recordings that are compared has it not */
};

/* What was taken for the same though it is called otherwise, or is elsewhere. */
struct profile_match {
	uint32_t function, is;	      /* MODEL_NONE: of an image */
	const char *image, *is_image; /* of a match of images */
	const char *how;
	bool is_guess;
};

/* One line of a stack as shown: an inlined function is a frame of its own. */
struct profile_frame {
	const char *file; /* or NULL */
	uint64_t address; /* link-time address in the image */
	uint32_t id;	  /* small numbers: the same for the same place on every stack */
	uint32_t function;
	/* Before it was matched to another recording's, or joined with others. */
	uint32_t own_function;
	uint32_t build;	       /* the symbolizer's image that the address is in */
	uint32_t line, column; /* 0 unknown */
	bool is_inlined;       /* inlined into the next outer frame */
	bool is_return;
};

must_use int profile_load(const char *const *paths, size_t n,
			  const struct profile_options *o, struct profile **ret,
			  struct err *e);
/* One recording that goes on being written: its samples from a block on.  It and the
 * symbolizer, which should keep places, are borrowed; whoever follows the recording frees
 * the profile before. */
struct profile_live {
	struct recording *recording;
	struct symbolizer *symbolizer;
	size_t first_block;
};

must_use int profile_load_live(const struct profile_live *live,
			       const struct profile_options *o, struct profile **ret,
			       struct err *e);
void profile_free(struct profile *p);
void profile_freep(struct profile **p);

/* Inclusive values come from calls, shared by how often they were: call_shares.h. */
bool profile_has_calls(const struct profile *p);
/* They would, but for the filter: inclusive values are exclusive ones. */
bool profile_leaves_calls_out(const struct profile *p);
/* The filter asks for a time, and some events are summed up over more than a moment. */
bool profile_has_late_sums(const struct profile *p);

size_t profile_n_sources(const struct profile *p);
const struct recording *profile_source(const struct profile *p, size_t i);
/* Of the recording, as its times have it: time 0 for people. */
uint64_t profile_start_ns(const struct profile *p, size_t source);
size_t profile_n_columns(const struct profile *p);
const struct profile_column *profile_column(const struct profile *p, size_t i);
uint32_t profile_n_functions(const struct profile *p);
const struct profile_function *profile_function(const struct profile *p, uint32_t id);
size_t profile_n_matches(const struct profile *p);
const struct profile_match *profile_match(const struct profile *p, size_t i);
bool profile_is_filtered(const struct profile *p); /* samples are chosen */
struct symbolizer *profile_symbolizer(const struct profile *p);
/* The symbolizer's id of a recording's image. */
uint32_t profile_sym_image(const struct profile *p, size_t source, uint32_t image);

struct profile_stack {
	const struct profile_frame *frames; /* outermost first, inlined ones expanded */
	size_t n;			    /* may be 0 */
	size_t n_same; /* so many of the first frames are those of the call before */
	const uint64_t *weights, *counts; /* one per column */
};

/* Every distinct stack that has weight, those with the same callers together. */
typedef int profile_stack_fn(void *ctx, const struct profile_stack *s, struct err *e);
must_use int profile_each_stack(const struct profile *p, profile_stack_fn *fn, void *ctx,
				struct err *e);

/* Every sample that passes the filter, in file order, with its expanded stack, until
 * the callback returns something else than 0: a negative result is this function's. */
struct profile_sample {
	uint32_t column, cpu, count;
	uint64_t time_ns, weight;
	const struct model_thread *thread;
	const struct model_process *process;
	const struct profile_frame *frames; /* outermost first */
	size_t n_frames;
};

/* When all of it was over: of who has ended it is told only afterwards. */
uint64_t profile_sample_end_ns(const struct profile_sample *s);

typedef int profile_sample_fn(void *ctx, const struct profile_sample *s, struct err *e);
must_use int profile_each_sample(const struct profile *p, profile_sample_fn *fn,
				 void *ctx, struct err *e);

#endif
