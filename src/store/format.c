/* SPDX-License-Identifier: Apache-2.0 */
#include "store/format.h"

#include <string.h>

#include "base/crc32c.h"
#include "base/reader.h"

/* The first byte is no text, the line end shows what a text transfer did. */
static const char magic[FORMAT_MAGIC_BYTES] = { '\x89', 'D', 'W',  'E',
						'L',	'L', '\r', '\n' };

static const char *const kind_names[FORMAT_N_KINDS] = {
	[FORMAT_INFO] = "info",
	[FORMAT_STRINGS] = "strings",
	[FORMAT_IMAGES] = "images",
	[FORMAT_PROCESSES] = "processes",
	[FORMAT_THREADS] = "threads",
	[FORMAT_EVENTS] = "events",
	[FORMAT_TRACE_TYPES] = "trace types",
	[FORMAT_LOCATIONS] = "locations",
	[FORMAT_STACKS] = "stacks",
	[FORMAT_MAPPINGS] = "mappings",
	[FORMAT_INTERVALS] = "intervals",
	[FORMAT_FACTS] = "facts",
	[FORMAT_SAMPLES] = "samples",
	[FORMAT_TRACES] = "trace events",
	[FORMAT_BLOBS] = "files",
	[FORMAT_BLOB_PIECE] = "file content",
	[FORMAT_INDEX] = "index",
	[FORMAT_END] = "end",
	[FORMAT_BASIC_BLOCKS] = "basic blocks",
	[FORMAT_EDGES] = "edges",
	[FORMAT_DIRECTIONS] = "directions",
	[FORMAT_ACCESSES] = "accesses",
	[FORMAT_ANCHORS] = "anchors",
	[FORMAT_GAUGES] = "gauges",
	[FORMAT_ANCHOR_WAYS] = "anchor ways",
	[FORMAT_INTERIM] = "interim sums",
	[FORMAT_SUMS_MARK] = "whose sums",
};

const char *format_kind_name(unsigned kind)
{
	return kind < FORMAT_N_KINDS && kind_names[kind] ? kind_names[kind] : "unknown";
}

void format_header_encode(uint8_t out[FORMAT_HEADER_BYTES])
{
	uint16_t major = FORMAT_MAJOR, minor = FORMAT_MINOR;

	memcpy(out, magic, sizeof(magic));
	memcpy(out + 8, &major, 2);
	memcpy(out + 10, &minor, 2);

	uint32_t crc = crc32c(0, out, 12);

	memcpy(out + 12, &crc, 4);
}

int format_header_check(const uint8_t *data, size_t size, int *ret_is_whole,
			struct err *e)
{
	struct reader r = reader_over(data, size);
	const uint8_t *seen = reader_bytes(&r, sizeof(magic));

	if (!seen || memcmp(seen, magic, sizeof(magic)) != 0)
		return err_set(e, ERR_FORMAT, "not a dwell recording");

	unsigned major = reader_u16le(&r);

	reader_u16le(&r);

	uint32_t crc = reader_u32le(&r);

	if (r.bad)
		return err_set(e, ERR_FORMAT,
			       "cut inside the file header: nothing was recorded");

	int is_whole = crc == crc32c(0, data, 12);

	if (is_whole && major != FORMAT_MAJOR)
		return err_set(e, ERR_UNSUPPORTED,
			       "recording of format %u, this dwell reads format %u",
			       major, FORMAT_MAJOR);
	*ret_is_whole = is_whole;
	return 0;
}
