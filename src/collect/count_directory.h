/* SPDX-License-Identifier: Apache-2.0
 *
 * count_directory - where processes that are counted leave their files.
 *
 * A private directory with the engine; files are of.PID.N, N counting a process' images,
 * and of.PID.N.PART where an image's counts go on in another one.  The engine takes the
 * first N that is free, so what was read stays as an empty file as
 * long as the process may still count on.
 */
#ifndef DWELL_COLLECT_COUNT_DIRECTORY_H
#define DWELL_COLLECT_COUNT_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"

#define COUNT_DIRECTORY_MAX    128
#define COUNT_DIRECTORY_ENGINE "dwell-count"

struct count_directory {
	char path[COUNT_DIRECTORY_MAX]; /* "": none; as those who are counted have it */
	int fd;
	int place; /* what it is in, where that is none of our files; -1: it is */
};

struct count_directory_file {
	uint32_t pid, n;
	uint32_t part; /* of the program's; 0: the first */
};

/* As qsort(3) wants it: by process, program and part. */
int count_directory_compare(const struct count_directory_file *a,
			    const struct count_directory_file *b);

struct count_directory_list {
	VEC(struct count_directory_file) at;
};

must_use int count_directory_make(struct count_directory *d, struct err *e);
/* The same for a process that runs already, which may see other files than we do, as in a
 * container.  It executes others natively: no engine is there. */
must_use int count_directory_make_for(struct count_directory *d, pid_t pid,
				      struct err *e);
/* The process finds it where it is. */
must_use int count_directory_check(const struct count_directory *d, pid_t pid,
				   struct err *e);
/* Hand it to the user as whom the program runs. */
must_use int count_directory_give(const struct count_directory *d, uid_t uid, gid_t gid,
				  struct err *e);
/* What the engine's files begin with; cap COUNT_DIRECTORY_MAX + 8. */
void count_directory_prefix(const struct count_directory *d, char *ret);
/* In their order; read ones included. */
void count_directory_list(const struct count_directory *d,
			  struct count_directory_list *ret);
/* No later program of that process has one. */
bool count_directory_is_last(const struct count_directory_list *list,
			     struct count_directory_file f);
/* -1: it is not there, or no file. */
int count_directory_open(const struct count_directory *d, struct count_directory_file f);
/* Somebody has it open to write, or mapped so.  false: nobody, or that cannot be told. */
bool count_directory_is_written(const struct count_directory *d,
				struct count_directory_file f);
/* The process counts there: it has it mapped to write. */
bool count_directory_is_mapped(const struct count_directory *d,
			       struct count_directory_file f, pid_t pid);
/* What is in it is not needed any more, but its name is taken. */
void count_directory_empty(const struct count_directory *d,
			   struct count_directory_file f);
void count_directory_drop(const struct count_directory *d, struct count_directory_file f);
/* All of the process's. */
void count_directory_drop_all(const struct count_directory *d, pid_t pid);
/* is_used: programs that go on without us need it for those that they start. */
void count_directory_remove(struct count_directory *d, bool is_used);

#endif
