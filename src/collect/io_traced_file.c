/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/io_traced_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "collect/io_files.h"

#define GONE " (deleted)"

/* A name that ends where it does elsewhere. */
static void socket_text(const struct wire_tracer_io_file *f, const char *name, char *ret,
			size_t cap)
{
	struct io_record_file r = { .mode = f->mode,
				    .family = f->family,
				    .type = f->type,
				    .local_port = f->local_port,
				    .remote_port = f->remote_port,
				    .is_bare = 1,
				    .file.inode = f->inode };
	size_t n = strnlen(name, sizeof(r.file.path) - 1);

	memcpy(r.local, f->local, sizeof(r.local));
	memcpy(r.remote, f->remote, sizeof(r.remote));
	memcpy(r.file.path, name, n);
	r.file.path_bytes = n ? (uint32_t)n + 1 : 0;
	io_files_text(&r, ret, cap);
}

/* "[eventfd]" of "anon_inode:[eventfd]", "memfd:x" of "/memfd:x (deleted)". */
static void name_text(const struct wire_tracer_io_file *f, const char *name, char *ret,
		      size_t cap)
{
	static const char anonymous[] = "anon_inode:", memory[] = "/memfd:";
	size_t n = strlen(name), n_gone = sizeof(GONE) - 1;

	if (f->flags & WIRE_TRACER_IO_IS_GONE && n > n_gone &&
	    strcmp(name + n - n_gone, GONE) == 0)
		n -= n_gone;
	if (text_starts(name, anonymous)) {
		name += sizeof(anonymous) - 1;
		n -= sizeof(anonymous) - 1;
	} else if (f->flags & WIRE_TRACER_IO_IS_GONE && text_starts(name, memory)) {
		name++;
		n--;
	}
	snprintf(ret, cap, "%.*s", (int)n, name);
}

void io_traced_file_text(const struct wire_tracer_io_file *f, const char *name, char *ret,
			 size_t cap)
{
	if (f->flags & WIRE_TRACER_IO_IS_PATH)
		snprintf(ret, cap, "%s", name);
	else if (f->family || !*name)
		socket_text(f, name, ret, cap);
	else
		name_text(f, name, ret, cap);
	if (!*ret)
		snprintf(ret, cap, "inode:[%" PRIu64 "]", f->inode);
}
