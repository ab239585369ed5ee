/* SPDX-License-Identifier: Apache-2.0 */
#include "store/block_source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "store/format.h"
#include "store/squeeze.h"

/* Of the search for the next block: what is looked at is twice as much each time, as it
 * may be near, and another near that. */
#define WINDOW_BYTES_MIN (4u << 10)
#define WINDOW_BYTES_MAX (1u << 20)

static int check_file(struct block_source *s, struct err *e)
{
	struct stat st;

	if (fstat(s->fd, &st) != 0)
		return err_os(e, "cannot read '%s'", s->path);
	if (S_ISDIR(st.st_mode))
		return err_set(e, ERR_FORMAT, "'%s' is a directory", s->path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_FORMAT, "'%s' is not a regular file", s->path);
	if (st.st_size == 0)
		return err_set(e, ERR_FORMAT, "'%s' is empty", s->path);
	s->size = (uint64_t)st.st_size;
	return 0;
}

static int check_header(struct block_source *s, struct err *e)
{
	uint8_t head[FORMAT_HEADER_BYTES];
	size_t n = s->size < sizeof(head) ? (size_t)s->size : sizeof(head);
	int rc = block_source_bytes(s, 0, head, n, e);
	int is_whole = 0;

	if (rc < 0)
		return rc;
	rc = format_header_check(head, n, &is_whole, e);
	if (rc < 0)
		return err_in(e, rc, s->path);
	s->has_whole_header = is_whole;
	return 0;
}

int block_source_open(struct block_source *s, const char *path, struct err *e)
{
	/* NONBLOCK: a FIFO without a writer would hang here. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return err_os(e, "cannot open '%s'", path);
	*s = (struct block_source){ .fd = fd, .path = xstrdup(path) };

	int rc = check_file(s, e);

	if (rc == 0)
		rc = check_header(s, e);
	if (rc < 0)
		block_source_fini(s);
	return rc;
}

int block_source_follow(struct block_source *s, struct err *e)
{
	struct stat st;

	if (fstat(s->fd, &st) != 0)
		return err_os(e, "cannot read '%s'", s->path);
	s->size = (uint64_t)st.st_size;
	return s->has_whole_header ? 0 : check_header(s, e);
}

void block_source_fini(struct block_source *s)
{
	if (!s->path)
		return;
	closep(&s->fd);
	free(s->path);
	*s = (struct block_source){ .fd = -1 };
}

int block_source_bytes(const struct block_source *s, uint64_t off, void *out, size_t n,
		       struct err *e)
{
	uint8_t *p = out;

	for (size_t done = 0; done < n;) {
		ssize_t got = pread(s->fd, p + done, n - done, (off_t)(off + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_os(e, "cannot read at byte %" PRIu64, off + done);
		if (got == 0)
			return err_set(e, ERR_FORMAT, "the file ends at byte %" PRIu64,
				       off + done);
		done += (size_t)got;
	}
	return 0;
}

int block_source_header(const struct block_source *s, uint64_t off,
			struct block_header *ret, struct err *e)
{
	uint8_t bytes[BLOCK_HEADER_BYTES];
	bool is_inner = s->inner_from && off >= s->inner_from;
	int rc = block_source_bytes(s, off, bytes, sizeof(bytes), e);

	if (rc < 0)
		return rc;
	if (!block_header_decode(bytes, is_inner ? off - s->inner_from : off, ret))
		return err_set(e, ERR_FORMAT,
			       "damaged at byte %" PRIu64 ": no block begins there", off);
	return 0;
}

static int fail(uint64_t off, unsigned kind, const char *what, struct err *e)
{
	return err_set(e, ERR_FORMAT, "damaged at byte %" PRIu64 ": %s of a block of %s",
		       off, what, format_kind_name(kind));
}

/* Puts the raw bytes where the stored ones were. */
static int unpack(uint64_t off, const struct block_header *h, struct buf *payload,
		  struct buf *scratch, struct err *e)
{
	buf_clear(scratch);

	uint8_t *out = buf_reserve(scratch, h->raw_size);

	if (!squeeze_unpack(payload->data, payload->size, out, h->raw_size))
		return fail(off, h->kind, "compression", e);
	scratch->size = h->raw_size;

	struct buf stored = *payload;

	*payload = *scratch;
	*scratch = stored;
	return 0;
}

int block_source_payload(const struct block_source *s, uint64_t off, unsigned kind,
			 struct buf *payload, struct buf *scratch, struct reader *ret,
			 struct err *e)
{
	struct block_header h;
	int rc = block_source_header(s, off, &h, e);

	if (rc < 0)
		return rc;
	if (h.kind != kind)
		return fail(off, kind, "header", e);
	if (h.flags & FORMAT_MUST_KNOW & ~FORMAT_ZSTD)
		return err_set(e, ERR_UNSUPPORTED,
			       "a block of %s at byte %" PRIu64 " needs a newer dwell",
			       format_kind_name(kind), off);
	/* Bounded by what is there, whatever the header promises. */
	if (h.stored_size > s->size - off)
		return fail(off, kind, "length", e);
	buf_clear(payload);
	buf_reserve(payload, h.stored_size);
	rc = block_source_bytes(s, off + BLOCK_HEADER_BYTES, payload->data, h.stored_size,
				e);
	if (rc < 0)
		return rc;
	payload->size = h.stored_size;
	if (crc32c(0, payload->data, payload->size) != h.payload_crc)
		return fail(off, kind, "checksum", e);
	if (h.flags & FORMAT_ZSTD)
		rc = unpack(off, &h, payload, scratch, e);
	if (rc == 0)
		*ret = reader_over(payload->data, payload->size);
	return rc;
}

/* Holes hold no blocks: a sparse file of terabytes is crossed at once. */
static uint64_t skip_hole(const struct block_source *s, uint64_t off)
{
	off_t data = lseek(s->fd, (off_t)off, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? s->size : off;
	return (uint64_t)data;
}

/* The first intact header that begins in the window. */
static bool find_in_window(uint64_t off, const uint8_t *data, size_t n, uint64_t *ret)
{
	struct block_header h;

	for (size_t i = 0; i < n; i++) {
		i += block_header_find(data + i, n - i);
		if (n - i < BLOCK_HEADER_BYTES)
			return false; /* in the next window, if at all */
		if (block_header_decode(data + i, off + i, &h)) {
			*ret = off + i;
			return true;
		}
	}
	return false;
}

int block_source_find(const struct block_source *s, uint64_t off, uint64_t *ret,
		      struct err *e)
{
	own(buf_fini) struct buf window = { 0 };
	size_t n, most = WINDOW_BYTES_MIN;

	for (uint64_t looked = 0; looked < FORMAT_RESYNC_MAX; looked += n) {
		off = skip_hole(s, off);
		if (s->size - off < BLOCK_HEADER_BYTES || off >= s->size)
			break;
		n = s->size - off < most ? (size_t)(s->size - off) : most;
		buf_reserve(&window, n);

		int rc = block_source_bytes(s, off, window.data, n, e);

		if (rc == ERR_FORMAT)
			break; /* it was cut meanwhile */
		if (rc < 0)
			return rc;
		if (find_in_window(off, window.data, n, ret))
			return 0;
		/* A header may straddle the windows. */
		n = n < most ? n : n - BLOCK_HEADER_BYTES;
		off += n;
		most = most < WINDOW_BYTES_MAX ? 2 * most : most;
	}
	*ret = s->size;
	return 0;
}
