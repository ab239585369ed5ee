/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/source_file.h"

#include <errno.h>

#include "base/mem.h"

static bool read_at(const char *directory, const char *file, struct buf *ret)
{
	own(freep) char *path =
		xasprintf("%s%s%s", directory, *directory ? "/" : "", file);

	buf_clear(ret);
	return image_read_file(path, SOURCE_FILE_BYTES_MAX, ret);
}

int source_file_read(struct image *im, const char *file, struct buf *ret, struct err *e)
{
	const char *sysroot = im->options->sysroot;

	if (image_blob(im, "source", file, ret))
		return 0;
	if (sysroot && read_at(sysroot, file, ret))
		return 0;
	/* A file named relatively would be looked up in the reader's directory, where
	 * another of that name may be: only what the build directory completed counts. */
	if (*file != '/')
		return err_set(e, ERR_UNSUPPORTED, "%s: compiled in an unknown directory",
			       file);
	errno = 0;
	if (read_at("", file, ret))
		return 0;
	if (ret->size > SOURCE_FILE_BYTES_MAX)
		return err_set(e, ERR_LIMIT, "%s: too large for a source file", file);
	if (!errno)
		errno = ENOENT;
	return err_os(e, "cannot read '%s'", file);
}
