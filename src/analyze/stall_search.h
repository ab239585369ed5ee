/* SPDX-License-Identifier: Apache-2.0
 *
 * stall_search - what was waited for where samples of CPU time landed.
 *
 * For reports of single instructions: a function's code is read and scheduled when one of
 * its places is asked for, once.  Borrows the profile.
 */
#ifndef DWELL_ANALYZE_STALL_SEARCH_H
#define DWELL_ANALYZE_STALL_SEARCH_H

#include "analyze/stall_place.h"

struct stall_search;

/* What the samples of a place waited for. */
struct stall_search_found {
	struct stall_place place;
	double share;	   /* of all CPU time that was sampled */
	bool is_estimated; /* how often it was executed is, and so all that follows */
};

/* model, clock_ghz: as of function_code. */
must_use int stall_search_new(const struct profile *p, const char *model,
			      double clock_ghz, struct stall_search **ret, struct err *e);
void stall_search_free(struct stall_search *s);
void stall_search_freep(struct stall_search **s);

/* CPU time was sampled: otherwise nothing is found. */
bool stall_search_has_time(const struct stall_search *s);
/* The function's code was read, so that asking again takes no time. */
bool stall_search_has_read(const struct stall_search *s, uint32_t function);
/* Link-time address minus stored offset, in the function's code; false: not known. */
bool stall_search_delta(const struct stall_search *s, uint32_t function, uint64_t *ret);
/* Of some function that was read it is estimated how often it was executed. */
bool stall_search_is_estimated(const struct stall_search *s);
/* That of the best case; NULL: nothing was found. */
const struct machine_model *stall_search_model(const struct stall_search *s);
/* 1: found; 0: nobody waited there, or nothing can be told of the function; negative: the
 * model is none. */
must_use int stall_search_find(struct stall_search *s, uint32_t function,
			       uint64_t address, struct stall_search_found *ret,
			       struct err *e);

#endif
