/* SPDX-License-Identifier: Apache-2.0
 *
 * trigger - places of the user's choice, as experiments.
 *
 * "trigger:sched:sched_process_fork" counts a tracepoint of the kernel,
 * "trigger:block:block_rq_issue.bytes" sums a field of it, too.
 * "trigger:uprobe:/bin/bash:readline" is a function of a file, "uretprobe" its return,
 * and "trigger:usdt:/bin/python3:python:gc__start" a probe that the file says it has;
 * which takes symbols, so that another finds where that is.
 */
#ifndef DWELL_COLLECT_TRIGGER_H
#define DWELL_COLLECT_TRIGGER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/experiment.h"
#include "wire/probe_record.h"

#define TRIGGER_MAX	 8
#define TRIGGER_TEXT_MAX 256

/* Columns of a trigger: how often, and of a value its sum, and how often it was below
 * zero. */
enum { TRIGGER_COUNT = 0, TRIGGER_SUM = 1, TRIGGER_NEGATIVE = 2 };

enum trigger_kind {
	TRIGGER_TRACEPOINT,
	TRIGGER_ENTRY, /* of a function, or any place in one */
	TRIGGER_RETURN,
	TRIGGER_NOTE, /* of a file, of a probe that it has */
};

/* In the code of a file. */
struct trigger_place {
	uint64_t offset;    /* in the file */
	uint64_t size;	    /* of the function from there on, 0 unknown */
	uint64_t semaphore; /* there, of a counter of who uses it; 0: none */
	struct probe_record_value value;
};

struct trigger_code {
	char path[PATH_MAX];
	struct trigger_place places[PROBE_RECORD_PLACES_MAX];
	size_t n_places;
};

/* What is to be found: "readline+4" in "/bin/bash", or "python:gc__start" of a note; and
 * there "arg1", "return" or "". */
struct trigger_wish {
	enum trigger_kind kind;
	char file[PATH_MAX], name[TRIGGER_TEXT_MAX], value[16];
};

/* ERR_USAGE says why there is no such place. */
typedef int trigger_find_fn(const struct trigger_wish *wish, struct trigger_code *ret,
			    struct err *e);

struct trigger {
	enum trigger_kind kind;
	char group[128], name[TRIGGER_TEXT_MAX]; /* as events are named */
	char value[128];			 /* "": none */
	struct probe_record_value told;		 /* of a tracepoint */
	struct trigger_code code;		 /* of all others */
	bool is_signed;				 /* the value */
	struct experiment experiment;
};

/* What stands behind "trigger:"; the experiment lives for good.  find NULL: there is no
 * code to be found. */
must_use int trigger_parse(const char *text, trigger_find_fn *find,
			   struct experiment_choice *ret, struct err *e);
/* Whose experiment it is. */
const struct trigger *trigger_of(const struct experiment *x);

#endif
