/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/row_table_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/crc32c.h"
#include "base/mem.h"
#include "base/reader.h"

#define MAGIC	     UINT64_C(0x776f726c6c657764) /* "dwellrow" */
#define VERSION	     1
#define HEADER_BYTES 40

static void bufp_fini(struct buf *b)
{
	buf_fini(b);
}

static void write_header(struct buf *b, const struct row_table *t,
			 const struct cfa_row *rows, size_t n)
{
	buf_u64le(b, MAGIC);
	buf_u32le(b, VERSION);
	buf_u32le(b, row_table_arch(t));
	buf_u64le(b, row_table_base(t));
	buf_u64le(b, n);
	buf_u32le(b, crc32c(0, rows, n * sizeof(*rows)));
	buf_u32le(b, crc32c(0, b->data, b->size));
}

static int make_dirs(const char *dir, struct err *e)
{
	own(freep) char *path = xstrdup(dir);

	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_os(e, "cannot create '%s'", dir);
	return 0;
}

static int write_all(int fd, const void *data, size_t size, const char *path,
		     struct err *e)
{
	const uint8_t *p = data;

	while (size) {
		ssize_t n = write(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_os(e, "cannot write '%s'", path);
		p += n;
		size -= (size_t)n;
	}
	return 0;
}

static int write_file(const struct row_table *t, int fd, const char *path, struct err *e)
{
	own(bufp_fini) struct buf header = { 0 };
	size_t n;
	const struct cfa_row *rows = row_table_rows(t, &n);
	int rc;

	write_header(&header, t, rows, n);
	rc = write_all(fd, header.data, header.size, path, e);
	return rc < 0 ? rc : write_all(fd, rows, n * sizeof(*rows), path, e);
}

int row_table_file_save(const struct row_table *t, const char *dir, const char *key,
			struct err *e)
{
	own(freep) char *path = xasprintf("%s/%s.rows", dir, key);
	own(freep) char *temporary = xasprintf("%s/%s.XXXXXX", dir, key);
	int rc = make_dirs(dir, e);

	if (rc < 0)
		return rc;

	own(closep) int fd = mkstemp(temporary);

	if (fd < 0)
		return err_os(e, "cannot create '%s'", temporary);
	rc = write_file(t, fd, temporary, e);
	if (rc == 0 && rename(temporary, path) < 0)
		rc = err_os(e, "cannot rename '%s'", temporary);
	if (rc < 0)
		unlink(temporary);
	return rc;
}

static int read_file(const char *path, uint8_t **ret, size_t *ret_size, struct err *e)
{
	own(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_os(e, "cannot open '%s'", path);
	if (st.st_size < HEADER_BYTES || st.st_size > INT32_MAX)
		return err_set(e, ERR_FORMAT, "'%s' is damaged", path);

	size_t size = (size_t)st.st_size, done = 0;
	own(freep) uint8_t *p = xcalloc(1, size);

	while (done < size) {
		ssize_t n = read(fd, p + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_set(e, ERR_FORMAT, "'%s' is cut short", path);
		done += (size_t)n;
	}
	*ret = steal(&p);
	*ret_size = size;
	return 0;
}

int row_table_file_parse(const void *data, size_t size, struct row_table **ret,
			 struct err *e)
{
	struct reader r = reader_over(data, size);
	uint64_t magic = reader_u64le(&r);
	uint32_t version = reader_u32le(&r), arch = reader_u32le(&r);
	uint64_t base = reader_u64le(&r), n = reader_u64le(&r);
	uint32_t rows_crc = reader_u32le(&r);
	uint32_t header_crc = crc32c(0, data, reader_offset(&r));

	if (reader_u32le(&r) != header_crc || r.bad || magic != MAGIC ||
	    version != VERSION || arch > UNWIND_AARCH64)
		return err_set(e, ERR_FORMAT, "not a table of unwind rows");
	if (n != reader_left(&r) / sizeof(struct cfa_row) ||
	    reader_left(&r) % sizeof(struct cfa_row) ||
	    crc32c(0, r.at, reader_left(&r)) != rows_crc)
		return err_set(e, ERR_FORMAT, "unwind rows are damaged");

	/* the caller aligned the bytes, the header keeps that */
	const struct cfa_row *rows = (const struct cfa_row *)(const void *)r.at;

	return row_table_new((enum unwind_arch)arch, base, rows, n, ret, e);
}

int row_table_file_load(const char *dir, const char *key, struct row_table **ret,
			struct err *e)
{
	own(freep) char *path = xasprintf("%s/%s.rows", dir, key);
	own(freep) uint8_t *data = NULL;
	size_t size = 0;
	int rc = read_file(path, &data, &size, e);

	if (rc < 0)
		return rc;
	rc = row_table_file_parse(data, size, ret, e);
	return rc < 0 ? err_in(e, rc, path) : 0;
}

static char *default_dir(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && cache[0] == '/')
		return xasprintf("%s/dwell/unwind", cache);
	return home && home[0] == '/' ? xasprintf("%s/.cache/dwell/unwind", home) : NULL;
}

int row_table_file_get(const struct unwind_image *image, const char *dir, const char *key,
		       struct row_table **ret, struct err *e)
{
	own(freep) char *made = dir ? NULL : default_dir();
	int rc;

	dir = dir ? dir : made;
	if (dir && row_table_file_load(dir, key, ret, NULL) == 0)
		return 0;
	rc = row_table_build(image, ret, e);
	/* without the file the next user compiles again, no more */
	if (rc == 0 && dir && row_table_file_save(*ret, dir, key, NULL) < 0)
		return 0;
	return rc;
}
