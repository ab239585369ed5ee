/* SPDX-License-Identifier: Apache-2.0 */
#include "store/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "store/durable.h"

#define FIRST_LINE "dwell-manifest 1\n"

enum field_kind { FIELD_TEXT, FIELD_U32, FIELD_I64, FIELD_U64 };

static const struct field {
	const char *key;
	enum field_kind kind;
	size_t at;
} fields[] = {
	{ "host", FIELD_TEXT, offsetof(struct manifest, host) },
	{ "epoch", FIELD_U32, offsetof(struct manifest, epoch) },
	{ "start", FIELD_I64, offsetof(struct manifest, start_s) },
	{ "end", FIELD_I64, offsetof(struct manifest, end_s) },
	{ "label", FIELD_TEXT, offsetof(struct manifest, label) },
	{ "period", FIELD_U64, offsetof(struct manifest, period_ns) },
	{ "clock", FIELD_TEXT, offsetof(struct manifest, clock) },
	{ "version", FIELD_TEXT, offsetof(struct manifest, version) },
};

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

void manifest_set(char out[MANIFEST_TEXT_MAX], const char *text)
{
	size_t n = 0;

	for (; *text && n + 1 < MANIFEST_TEXT_MAX; text++)
		out[n++] = (unsigned char)*text < ' ' ? ' ' : *text;
	out[n] = '\0';
}

void manifest_encode(const struct manifest *m, struct buf *out)
{
	size_t start = out->size;

	buf_puts(out, FIRST_LINE);
	for (size_t i = 0; i < N_FIELDS; i++) {
		const uint8_t *at = (const uint8_t *)m + fields[i].at;
		uint32_t u32;
		uint64_t u64;

		memcpy(&u32, at, sizeof(u32));
		memcpy(&u64, at, sizeof(u64));
		if (fields[i].kind == FIELD_TEXT)
			buf_printf(out, "%s %s\n", fields[i].key, (const char *)at);
		else
			buf_printf(out, "%s %" PRIu64 "\n", fields[i].key,
				   fields[i].kind == FIELD_U32 ? u32 : u64);
	}
	buf_printf(out, "crc %08x\n", crc32c(0, out->data + start, out->size - start));
}

static bool take_number(const char *value, uint64_t max, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(value, &end, 10);
	return *value >= '0' && *value <= '9' && !*end && !errno && *ret <= max;
}

static bool take_field(const struct field *f, const char *value, struct manifest *m)
{
	static const uint64_t max[] = { [FIELD_U32] = UINT32_MAX,
					[FIELD_I64] = INT64_MAX,
					[FIELD_U64] = UINT64_MAX };
	uint8_t *at = (uint8_t *)m + f->at;
	uint64_t number;

	if (f->kind == FIELD_TEXT) {
		if (strlen(value) >= MANIFEST_TEXT_MAX)
			return false;
		manifest_set((char *)at, value);
		return true;
	}
	if (!take_number(value, max[f->kind], &number))
		return false;
	memcpy(at, &number, f->kind == FIELD_U32 ? 4 : 8);
	return true;
}

static bool take_line(char *line, struct manifest *m)
{
	char *blank = strchr(line, ' ');

	if (!blank)
		return false;
	*blank = '\0';
	for (size_t i = 0; i < N_FIELDS; i++)
		if (strcmp(fields[i].key, line) == 0)
			return take_field(&fields[i], blank + 1, m);
	return true; /* a later version's */
}

/* Where the checksum's line begins when it is right, else 0. */
static size_t check_sum(const char *text, size_t size)
{
	static const char key[] = "crc ";
	const size_t n = sizeof("crc 01234567\n") - 1;
	char want[16];

	if (size < n || memcmp(text + size - n, key, sizeof(key) - 1) != 0)
		return 0;
	snprintf(want, sizeof(want), "crc %08x\n", crc32c(0, text, size - n));
	return memcmp(text + size - n, want, n) == 0 ? size - n : 0;
}

int manifest_parse(const void *data, size_t size, struct manifest *ret, struct err *e)
{
	struct manifest m = { 0 };
	size_t end = size <= MANIFEST_MAX_BYTES ? check_sum(data, size) : 0;
	own(freep) char *text = xstrndup(data ? data : "", end);
	size_t n = strlen(FIRST_LINE);

	if (!end || strlen(text) != end)
		return err_set(e, ERR_FORMAT, "damaged: the checksum is wrong");
	if (strncmp(text, FIRST_LINE, n) != 0)
		return err_set(e, ERR_UNSUPPORTED, "of another version");
	for (char *line = text + n, *next; *line; line = next) {
		next = strchr(line, '\n');
		if (!next)
			return err_set(e, ERR_FORMAT, "damaged: the last line is cut");
		*next++ = '\0';
		if (!take_line(line, &m))
			return err_set(e, ERR_FORMAT, "damaged: no value: '%.40s'", line);
	}
	*ret = m;
	return 0;
}

int manifest_read(const char *directory, struct manifest *ret, struct err *e)
{
	own(freep) char *path = xasprintf("%s/" MANIFEST_FILE, directory);
	own(freep) char *data = xcalloc(1, MANIFEST_MAX_BYTES + 1);
	own(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t size = 0;
	ssize_t n = 1;

	if (fd < 0)
		return err_os(e, "cannot open '%s'", path);
	while (n > 0 && size <= MANIFEST_MAX_BYTES) {
		n = read(fd, data + size, MANIFEST_MAX_BYTES + 1 - size);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			size += (size_t)n;
	}
	if (n < 0)
		return err_os(e, "cannot read '%s'", path);

	int rc = manifest_parse(data, size, ret, e);

	return rc < 0 ? err_in(e, rc, path) : 0;
}

int manifest_write(const char *directory, const struct manifest *m, struct err *e)
{
	own(freep) char *path = xasprintf("%s/" MANIFEST_FILE, directory);
	own(buf_fini) struct buf text = { 0 };

	manifest_encode(m, &text);
	return durable_write(path, text.data, text.size, e);
}
