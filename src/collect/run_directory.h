/* SPDX-License-Identifier: Apache-2.0
 *
 * run_directory - a private directory for what a recorder and its programs share.
 *
 * In memory where possible, named after the recorder, so that what a killed one leaves
 * is found (timer_leftovers).
 */
#ifndef DWELL_COLLECT_RUN_DIRECTORY_H
#define DWELL_COLLECT_RUN_DIRECTORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"

/* Code may run from there, and so much is free; path becomes "" on failure.  whose: who
 * has no place then. */
must_use int run_directory_make(char *path, size_t cap, const char *whose,
				uint64_t least_bytes, struct err *e);
/* The same in the files of a process that sees others than we do, whose root is a
 * descriptor; code need not run from there.  path: as it is called there; *ret_place: the
 * directory that it was made in, to be closed. */
must_use int run_directory_make_within(int root, char *path, size_t cap,
				       const char *whose, uint64_t least_bytes,
				       int *ret_place, struct err *e);
/* A new file in it, fd. */
must_use int run_directory_write(int fd, const char *path, const char *name,
				 const void *data, size_t size, mode_t mode,
				 struct err *e);
/* Removes the files whose names begin like that; fd is closed. */
void run_directory_empty(int fd, const char *prefix);

#endif
