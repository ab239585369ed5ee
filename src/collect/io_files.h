/* SPDX-License-Identifier: Apache-2.0
 *
 * io_files - what the files of I/O are called, by the numbers that the kernel's side
 * gives them: paths, pipes, sockets with both of their ends.
 *
 * One thread.
 */
#ifndef DWELL_COLLECT_IO_FILES_H
#define DWELL_COLLECT_IO_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "base/own.h"
#include "wire/io_record.h"

struct io_files;

struct io_files *io_files_new(void);
void io_files_free(struct io_files *f);
void io_files_freep(struct io_files **f);

void io_files_meet(struct io_files *f, const struct io_record_file *r);
/* Never NULL; borrowed until the next one is met. */
const char *io_files_name(const struct io_files *f, uint32_t number);

/* What is no file: "[no file]"; below IO_RECORD_FILES. */
const char *io_files_none(enum io_record_number number);

/* "/etc/passwd", "pipe:[123]", "[eventfd]", "TCP 10.0.0.1:4000->10.0.0.2:80". */
void io_files_text(const struct io_record_file *r, char *ret, size_t cap);

#endif
