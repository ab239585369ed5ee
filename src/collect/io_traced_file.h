/* SPDX-License-Identifier: Apache-2.0
 *
 * io_traced_file - what the files are called of which a tracer in the program tells.
 */
#ifndef DWELL_COLLECT_IO_TRACED_FILE_H
#define DWELL_COLLECT_IO_TRACED_FILE_H

#include <stddef.h>

#include "wire/tracer_io.h"

/* As the kernel's side has it: io_files_text(); never "". */
void io_traced_file_text(const struct wire_tracer_io_file *f, const char *name, char *ret,
			 size_t cap);

#endif
