/* SPDX-License-Identifier: Apache-2.0
 *
 * timer_image - one program image that the sampler runs in, and its ring.
 *
 * exec makes another image with the same pid.  Hands what the ring says to the tracker,
 * and finds out in /proc what the target cannot say.
 */
#ifndef DWELL_COLLECT_TIMER_IMAGE_H
#define DWELL_COLLECT_TIMER_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "collect/late_image.h"
#include "collect/source.h"
#include "collect/thread_names.h"
#include "collect/timer_ring.h"

struct timer_claims;
struct timer_image;
struct timer_images;

/* Who takes the records that only a tracer writes.  None may be NULL. */
struct timer_tracing {
	void (*take)(struct timer_image *m, const struct timer_record *r);
	/* Some of the work that is left; false: there is no more. */
	bool (*go_on)(struct timer_image *m);
	/* Writes what end() would if nothing more came; false: that is nothing. */
	bool (*interim)(struct timer_image *m, uint64_t now_ns);
	/* Nothing more will come; its process, if it goes, has not gone yet. */
	void (*end)(struct timer_image *m, uint64_t now_ns);
};

/* Sums over all images, and what they need of the source. */
struct timer_totals {
	struct tracker *tracker;
	struct writer *writer;
	const struct plan *plans;
	size_t n_plans;
	const struct source_ops *ops;
	struct gauges *const *gauges;	     /* as of source_context */
	const struct timer_tracing *tracing; /* NULL: a sampler */
	const struct timer_images *images;   /* where all meet; or NULL */
	uint64_t interval_ns;
	bool follows;	   /* children too */
	bool is_visit;	   /* of processes that ran already */
	bool brings;	   /* and the library comes to what these execute */
	uint64_t lag_ns;   /* so long a new image waits, that others tell of it first */
	struct map *known; /* pid → its newest image that has begun, a pointer */
	const struct map *present; /* pids of which an image is there, begun or not */
	const struct map *refused; /* pids that are known to have no ring, of which
				    * there is nothing to be said; or NULL */
	uint64_t pauses;	   /* as the control file has them */
	char seccomp[64];	   /* our own restrictions, as in /proc/self/status */
	/* of images that have ended */
	uint64_t n_signals, n_intervals, n_dropped, handler_ns, n_threads_refused;
	uint64_t n_images, damaged, n_not_followed;
	uint64_t n_unsampled; /* threads that ended without a sample */
	uint64_t sampled;     /* intervals in samples */
	/* traced */
	uint64_t sample_bytes; /* of the heap, for each block told of; 0: all are */
	uint64_t n_events, n_unmatched, n_retaken;
	uint64_t n_unmatched_ends, n_cut_regions, n_refused_regions, n_late_marks;
	uint32_t slice_type; /* id of rows of callstacks of regions, plus 1; 0: not yet */
	uint32_t row_types[5]; /* ids of heap_totals' rows, plus 1; 0: not yet */
};

struct timer_range {
	uint64_t start, end;
};

struct timer_image {
	struct timer_ring *ring;
	struct timer_claims *claims; /* whose the ring is, or NULL; borrowed */
	struct timer_totals *totals;
	uint32_t pid, ppid;
	uint64_t start_ns;
	char exe[TIMER_RECORD_PATH_MAX + 1];
	VEC(struct timer_range) ranges; /* code that the tracker knows */
	struct map threads;		/* tid → was it sampled? */
	struct thread_names names;	/* of those whose tracer tells */
	bool is_fork;			/* it began as a copy of its parent */
	bool is_attached;		/* it ran before it was traced */
	bool has_past;	   /* the process ran another image before this one */
	bool is_sampled;   /* the main thread, in an image before this one */
	struct map shares; /* tid → intervals not yet in a sample, for coarser plans */
	bool has_outside;  /* a pc in none of the ranges was seen */
	struct map strangers; /* children without a ring → since when, 0: said */
	bool is_drained;      /* to its end */
	bool is_over;
	void *traced; /* what timer_tracing keeps of it, and frees at its end */
	struct late_image *late;      /* of a tracer; NULL: not yet */
	struct timer_image *previous; /* of its process, until that has ended */
	bool is_replaced;	      /* its process runs another */
	bool is_gone;		      /* its process does not run it any more */
	uint64_t found_ns;
	uint64_t looked_ns, look_pause_ns; /* at its mappings */
	uint64_t check_ns, other_exe_ns, scan_ns, scan_pause_ns;
};

struct timer_image *timer_image_new(struct timer_ring *ring, struct timer_claims *claims,
				    struct timer_totals *totals);
void timer_image_free(struct timer_image *m);

/* Whose stacks its tracer tells. */
struct late_image *timer_image_late(struct timer_image *m);
/* The id in the recording of a stack that its tracer told. */
uint32_t timer_image_stack(struct timer_image *m, const struct timer_record *r);
/* Take what has come.  is_final: nobody writes any more. */
void timer_image_drain(struct timer_image *m, uint64_t now_ns, bool is_final);
/* Is its process there, running this image?  When it runs another one into which the
 * sampler could not be loaded, the recording says so. */
bool timer_image_check(struct timer_image *m, uint64_t now_ns);
/* Has its process ended, though perhaps nobody has waited for it yet? */
bool timer_image_has_exited(const struct timer_image *m);
/* Its process has ended, or is not observed any more. */
void timer_image_end(struct timer_image *m, uint64_t now_ns, bool has_exited);
/* Its process runs another image, next, in the main thread. */
void timer_image_replace(struct timer_image *m, struct timer_image *next);

/* The restrictions on a process' system calls, as text to compare. */
void timer_image_seccomp(uint32_t pid, char *ret, size_t cap);

#endif
