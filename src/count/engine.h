/* SPDX-License-Identifier: Apache-2.0
 *
 * engine - what all threads of the program share.
 */
#ifndef DWELL_COUNT_ENGINE_H
#define DWELL_COUNT_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "bare/spin.h"
#include "count/forest.h"

struct engine {
	struct spin lock; /* of all tables of code */
	struct forest forest;
	/* Flags may be needed behind returns, indirect jumps and calls; else nobody was
	 * seen who does. */
	bool is_strict;
	bool was_lax;	  /* and code of before is there: turnover.h */
	bool is_stale;	  /* likewise of code that is another by now */
	bool counts_all;  /* each way has a counter: a check of the engine itself */
	bool is_confined; /* the program has forbidden itself calls that are needed */
	bool is_attached; /* the program began without the engine, and goes on without */
	bool is_turning;  /* threads are to come to rest: turnover.h */
	bool turns_soon;  /* ... often: a check of the engine itself */
	uint32_t epoch;	  /* how often that was so */
	uint64_t n_sharers; /* children that share memory for good */
	uint64_t are_away;  /* threads, as the recorder says: release.h */
	/* The context of who undoes what is the process's; others that come back wait
	 * until it has it again.  0: nobody. */
	uint64_t finisher;
	uint64_t n_confining; /* threads that wait to be left: confine.h */
};

extern struct engine engine;

void engine_init(void);

/* It can rest in the process, until threads come again, who are all there are. */
bool engine_can_rest(void);
void engine_begin_again(void);

#endif
