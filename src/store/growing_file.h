/* SPDX-License-Identifier: Apache-2.0
 *
 * growing_file - a file that is appended to, a piece as a whole or not at all.
 *
 * A patient one never refuses a piece: what cannot be written, and all that comes after
 * it, waits in memory until growing_file_settle() gets it into the file.  Another may
 * keep room of the file system for pieces that have to be there at its end.  Owns the
 * descriptor.  One thread.
 */
#ifndef DWELL_STORE_GROWING_FILE_H
#define DWELL_STORE_GROWING_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"

struct growing_file {
	int fd; /* -1: a patient one's file is not there yet */
	char *path;
	uint64_t offset; /* where the next piece begins; what waits is before it */
	bool is_patient;
	struct buf waiting;
	uint64_t kept_bytes; /* of room behind what is there; 0: none is kept */
	bool has_room;	     /* some was taken, which is to be given back */
};

/* From a descriptor that becomes its own, behind offset bytes. */
void growing_file_init(struct growing_file *f, const char *path, int fd, uint64_t offset);
/* A new file of mode 0600; as long as there is one of that name, it waits. */
void growing_file_init_patient(struct growing_file *f, const char *path);
void growing_file_fini(struct growing_file *f); /* what waits is gone */

/* From now on a piece is refused that would leave less room than that behind it, where
 * the file system can promise it; 0: what was kept is there to be used. */
void growing_file_keep(struct growing_file *f, uint64_t bytes);
must_use int growing_file_append(struct growing_file *f, const void *data, size_t size,
				 struct err *e);
/* All of it is in the file; else why not, and it waits on. */
/* Beside the pieces, further behind them than the next one goes; nothing of that counts,
 * and it is gone when a piece fails or the file is closed. */
must_use int growing_file_write_behind(struct growing_file *f, uint64_t at,
				       const void *data, size_t size, struct err *e);
/* Whatever is from there on is not needed, pieces excepted. */
void growing_file_cut_behind(struct growing_file *f, uint64_t at);
must_use int growing_file_settle(struct growing_file *f, struct err *e);
uint64_t growing_file_waiting(const struct growing_file *f); /* bytes */
/* Closes the descriptor: some file systems report a failed write only here. */
must_use int growing_file_close(struct growing_file *f, struct err *e);

#endif
