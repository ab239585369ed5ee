/* SPDX-License-Identifier: Apache-2.0 */
#include "store/block_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "store/block_header.h"
#include "store/interim.h"

static int check_replaceable(const char *path, struct err *e)
{
	own(closep) int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	uint8_t head[FORMAT_HEADER_BYTES];
	struct stat st;
	int is_whole;

	if (fd < 0 || fstat(fd, &st) != 0)
		return err_os(e, "cannot replace '%s'", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_OS, "'%s' exists and is not a regular file", path);
	if (st.st_size == 0)
		return 0;

	ssize_t n = pread(fd, head, sizeof(head), 0);

	if (n < 0)
		return err_os(e, "cannot read '%s'", path);
	if (format_header_check(head, (size_t)n, &is_whole, NULL) == ERR_FORMAT)
		return err_set(e, ERR_OS,
			       "'%s' exists and is not a recording: not overwritten",
			       path);
	return 0;
}

/* The old file is unlinked, not truncated: who reads it goes on reading it. */
static int open_new(const char *path, struct err *e)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
	int fd = open(path, flags, 0600);

	if (fd < 0 && errno == EEXIST) {
		int rc = check_replaceable(path, e);

		if (rc < 0)
			return rc;
		if (unlink(path) != 0)
			return err_os(e, "cannot replace '%s'", path);
		fd = open(path, flags, 0600);
	}
	if (fd < 0)
		return err_os(e, "cannot create '%s'", path);
	return fd;
}

static int begin(struct block_sink *s, struct err *e)
{
	uint8_t head[FORMAT_HEADER_BYTES];

	format_header_encode(head);
	return growing_file_append(&s->file, head, sizeof(head), e);
}

int block_sink_create(struct block_sink *s, const char *path, struct err *e)
{
	int fd = open_new(path, e), rc;

	if (fd < 0)
		return fd;
	*s = (struct block_sink){ 0 };
	growing_file_init(&s->file, path, fd, 0);
	rc = begin(s, e);
	if (rc < 0) {
		unlink(path);
		block_sink_fini(s);
	}
	return rc;
}

void block_sink_create_patient(struct block_sink *s, const char *path)
{
	*s = (struct block_sink){ 0 };
	growing_file_init_patient(&s->file, path);
	/* It waits, if it cannot be written. */
	if (begin(s, NULL) == 0)
		(void)!growing_file_settle(&s->file, NULL);
}

int block_sink_continue(struct block_sink *s, const char *path,
			const struct format_entry *blocks, size_t n, struct err *e)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	uint64_t end = FORMAT_HEADER_BYTES;

	if (fd < 0)
		return err_os(e, "cannot open '%s' for writing", path);
	if (n)
		end = blocks[n - 1].offset + BLOCK_HEADER_BYTES +
		      blocks[n - 1].stored_size;
	*s = (struct block_sink){ 0 };
	growing_file_init(&s->file, path, fd, end);
	vec_reserve(&s->entries, n);
	for (size_t i = 0; i < n; i++)
		*vec_push(&s->entries) = blocks[i];
	if (ftruncate(fd, (off_t)end) == 0)
		return 0;

	int rc = err_os(e, "cannot write '%s'", path);

	block_sink_fini(s);
	return rc;
}

void block_sink_fini(struct block_sink *s)
{
	/* Whoever ends so was not to end. */
	if (s->interim.size)
		s->file.has_room = false;
	growing_file_fini(&s->file);
	buf_fini(&s->interim.payload);
	buf_fini(&s->out);
	squeeze_fini(&s->squeeze);
	vec_fini(&s->entries);
	*s = (struct block_sink){ 0 };
}

void block_sink_drop_interim(struct block_sink *s)
{
	if (s->interim.size)
		growing_file_cut_behind(&s->file, s->file.offset);
	s->interim.size = 0;
}

/* Its header and payload as they are at off. */
static void encode(struct block_sink *s, const struct block_header *h, uint64_t off,
		   const void *payload)
{
	buf_clear(&s->out);
	block_header_encode(h, off, buf_reserve(&s->out, BLOCK_HEADER_BYTES));
	s->out.size += BLOCK_HEADER_BYTES;
	buf_add(&s->out, payload, h->stored_size);
}

/* Behind the blocks, of which n_bytes more are about to come, and behind the one that is
 * there unless there is room before it. */
static int place_interim(struct block_sink *s, uint64_t n_bytes, struct err *e)
{
	uint64_t max_bytes = s->interim.max_bytes;
	const struct buf *payload = &s->interim.payload;
	const struct block_header h = { .kind = FORMAT_INTERIM,
					.raw_size = (uint32_t)payload->size,
					.stored_size = (uint32_t)payload->size,
					.payload_crc =
						crc32c(0, payload->data, payload->size) };
	uint64_t size = BLOCK_HEADER_BYTES + payload->size;
	uint64_t at = s->file.offset + n_bytes + INTERIM_GAP_BYTES;
	uint64_t was = s->interim.size ? s->interim.at + s->interim.size : 0;
	int rc;

	if (s->interim.size && at + size > s->interim.at && at < was)
		at = was;
	if (max_bytes && at + size > max_bytes)
		return err_set(e, ERR_LIMIT, "'%s' reached its largest size",
			       s->file.path);
	encode(s, &h, at, payload->data);
	rc = growing_file_write_behind(&s->file, at, s->out.data, s->out.size, e);
	if (rc < 0) {
		growing_file_cut_behind(&s->file, was);
		return rc;
	}
	s->interim.at = at;
	s->interim.size = size;
	growing_file_cut_behind(&s->file, at + size);
	return 0;
}

int block_sink_put_interim(struct block_sink *s, const struct buf *payload,
			   uint64_t max_bytes, struct err *e)
{
	if (payload->size > FORMAT_BLOCK_MAX)
		return err_set(e, ERR_LIMIT, "interim sums of %zu bytes are too large",
			       payload->size);
	if (payload != &s->interim.payload) {
		buf_clear(&s->interim.payload);
		buf_add(&s->interim.payload, payload->data, payload->size);
	}
	s->interim.max_bytes = max_bytes;
	return place_interim(s, 0, e);
}

/* Whose place is wanted for a block. */
static void make_way(struct block_sink *s, uint64_t n_bytes)
{
	uint64_t end = s->file.offset + n_bytes + s->file.kept_bytes;

	if (s->interim.size && end >= s->interim.at &&
	    place_interim(s, n_bytes, NULL) < 0)
		block_sink_drop_interim(s);
}

static int append(struct block_sink *s, const struct block_header *h, const void *payload,
		  struct err *e)
{
	int rc;

	make_way(s, BLOCK_HEADER_BYTES + h->stored_size);
	encode(s, h, s->file.offset, payload);
	rc = growing_file_append(&s->file, s->out.data, s->out.size, e);
	if (rc == 0 || !s->interim.size)
		return rc;
	block_sink_drop_interim(s);
	return growing_file_append(&s->file, s->out.data, s->out.size, e);
}

/* The header, and what is stored of the payload. */
static int prepare(struct block_sink *s, enum format_kind kind, const struct buf *payload,
		   bool is_dense, struct block_header *ret, const struct buf **ret_stored,
		   struct err *e)
{
	const struct buf *stored = payload;
	struct block_header h = { .kind = (uint16_t)kind };

	if (payload->size > FORMAT_BLOCK_MAX)
		return err_set(e, ERR_LIMIT, "a block of %zu bytes is too large",
			       payload->size);
	if (!is_dense && squeeze_pack(&s->squeeze, payload->data, payload->size)) {
		h.flags = FORMAT_ZSTD;
		stored = &s->squeeze.packed;
	}
	h.raw_size = (uint32_t)payload->size;
	h.stored_size = (uint32_t)stored->size;
	h.payload_crc = crc32c(0, stored->data, stored->size);
	*ret = h;
	*ret_stored = stored;
	return 0;
}

int block_sink_nest(struct block_sink *s, struct buf *out, size_t from,
		    enum format_kind kind, const struct buf *payload, struct err *e)
{
	const struct buf *stored = NULL;
	struct block_header h;
	int rc = prepare(s, kind, payload, true, &h, &stored, e);

	if (rc < 0)
		return rc;
	block_header_encode(&h, out->size - from, buf_reserve(out, BLOCK_HEADER_BYTES));
	out->size += BLOCK_HEADER_BYTES;
	buf_add(out, stored->data, stored->size);
	return 0;
}

int block_sink_append(struct block_sink *s, enum format_kind kind,
		      const struct buf *payload, const struct format_summary *summary,
		      bool is_dense, struct err *e)
{
	const struct buf *stored = NULL;
	struct block_header h;
	int rc = prepare(s, kind, payload, is_dense, &h, &stored, e);

	if (rc < 0)
		return rc;

	struct format_entry entry = {
		.offset = s->file.offset,
		.stored_size = h.stored_size,
		.kind = kind,
	};

	if (summary)
		entry.summary = *summary;
	rc = append(s, &h, stored->data, e);
	if (rc == 0)
		*vec_push(&s->entries) = entry;
	return rc;
}

static void encode_entry(struct buf *out, const struct format_entry *b)
{
	struct buf record = { 0 };

	buf_uleb(&record, b->kind);
	buf_uleb(&record, b->offset);
	buf_uleb(&record, b->stored_size);
	buf_uleb(&record, b->summary.n);
	buf_uleb(&record, b->summary.from_ns);
	buf_uleb(&record, b->summary.to_ns);
	if (b->summary.event || b->summary.first_image) {
		buf_uleb(&record, b->summary.event);
		buf_uleb(&record, b->summary.first_image);
		buf_uleb(&record, b->summary.last_image);
	}
	buf_uleb(out, record.size);
	buf_add(out, record.data, record.size);
	buf_fini(&record);
}

int block_sink_finish(struct block_sink *s, struct err *e)
{
	own(buf_fini) struct buf index = { 0 };
	own(buf_fini) struct buf end = { 0 };
	uint64_t index_off = s->file.offset;

	vec_each(b, &s->entries)
		encode_entry(&index, b);
	if (index.size > FORMAT_BLOCK_MAX) {
		index_off = 0; /* readers scan the headers instead */
	} else {
		int rc = block_sink_append(s, FORMAT_INDEX, &index, NULL, false, e);

		if (rc < 0)
			return rc;
	}
	buf_u64le(&end, index_off);
	return block_sink_append(s, FORMAT_END, &end, NULL, true, e);
}
