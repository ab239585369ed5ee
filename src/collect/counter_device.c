/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/counter_device.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "host/procfs.h"

#define TERM_MAX 64
#define TEXT_CAP 256
/* An event's own terms name no other event. */
#define DEPTH_MAX 1

/* A number of a few digits; false: there is none. */
static bool take_bit(const char **at, unsigned *ret)
{
	unsigned n = 0;

	if (**at < '0' || **at > '9')
		return false;
	while (**at >= '0' && **at <= '9' && n < 64)
		n = n * 10 + (unsigned)(*(*at)++ - '0');
	*ret = n;
	return n < 64;
}

static bool take_range(const char **at, uint64_t *mask)
{
	unsigned first, last;

	if (!take_bit(at, &first))
		return false;
	last = first;
	if (**at == '-') {
		++*at;
		if (!take_bit(at, &last) || last < first)
			return false;
	}
	for (unsigned i = first; i <= last; i++)
		*mask |= UINT64_C(1) << i;
	return true;
}

bool counter_device_parse_field(const char *text, struct counter_device_field *ret)
{
	static const char *const words[COUNTER_DEVICE_WORDS] = { "config:", "config1:",
								 "config2:" };
	struct counter_device_field f = { 0 };

	while (f.word < COUNTER_DEVICE_WORDS && !text_starts(text, words[f.word]))
		f.word++;
	if (f.word == COUNTER_DEVICE_WORDS)
		return false;
	text += strlen(words[f.word]);
	do {
		if (!take_range(&text, &f.mask))
			return false;
	} while (*text == ',' && text++);
	if (*text && strcmp(text, "\n") != 0)
		return false;
	*ret = f;
	return true;
}

bool counter_device_place(const struct counter_device_field *f, uint64_t value,
			  uint64_t words[COUNTER_DEVICE_WORDS])
{
	uint64_t *word = &words[f->word], placed = *word & ~f->mask;

	for (unsigned i = 0; i < 64; i++) {
		if (!(f->mask >> i & 1))
			continue;
		placed |= (value & 1) << i;
		value >>= 1;
	}
	if (value)
		return false;
	*word = placed;
	return true;
}

/* What is being read, for messages and files. */
struct device {
	const char *root, *name;
	struct counter_device_event event;
};

static int read_file(const struct device *d, const char *folder, const char *file,
		     char text[TEXT_CAP], struct err *e)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/%s/%s", d->root, d->name, folder, file);
	return procfs_read_text(path, text, TEXT_CAP, e);
}

/* The words themselves have no file. */
static bool find_field(const struct device *d, const char *term,
		       struct counter_device_field *ret)
{
	static const char *const words[COUNTER_DEVICE_WORDS] = { "config", "config1",
								 "config2" };
	char text[TEXT_CAP];

	for (unsigned i = 0; i < COUNTER_DEVICE_WORDS; i++)
		if (!strcmp(term, words[i])) {
			*ret = (struct counter_device_field){ i, UINT64_MAX };
			return true;
		}
	return read_file(d, "format", term, text, NULL) >= 0 &&
	       counter_device_parse_field(text, ret);
}

static int set_field(struct device *d, const char *term, const char *value, struct err *e)
{
	struct counter_device_field field;
	uint64_t number = 1;

	if (!find_field(d, term, &field))
		return err_set(e, ERR_USAGE,
			       "%.40s has no event and no term '%.60s' (see "
			       "%s/%.40s/events and format)",
			       d->name, term, d->root, d->name);
	if (value && text_parse_u64(value, &number, NULL) < 0)
		return err_set(e, ERR_USAGE, "%.40s/%.60s=: '%.40s' is no number",
			       d->name, term, value);
	if (!counter_device_place(&field, number, d->event.words))
		return err_set(e, ERR_USAGE, "%.40s/%.60s=: %s is too large", d->name,
			       term, value ? value : "1");
	return 0;
}

static int set_terms(struct device *d, const char *terms, unsigned depth, struct err *e);

static int set_term(struct device *d, const char *text, size_t n, unsigned depth,
		    struct err *e)
{
	char term[TERM_MAX], terms[TEXT_CAP];
	char *value;

	if (!n || n >= sizeof(term))
		return err_set(e, ERR_USAGE, "%.40s: no term of it is called '%.60s'",
			       d->name, text);
	snprintf(term, sizeof(term), "%.*s", (int)n, text);
	if (strchr(term, '/'))
		return err_set(e, ERR_USAGE, "%.40s: no term of it is called '%.60s'",
			       d->name, term);
	value = strchr(term, '=');
	if (value)
		*value++ = '\0';
	else if (depth < DEPTH_MAX && read_file(d, "events", term, terms, NULL) >= 0)
		return set_terms(d, terms, depth + 1, e);
	return set_field(d, term, value, e);
}

static int set_terms(struct device *d, const char *terms, unsigned depth, struct err *e)
{
	for (;;) {
		size_t n = strcspn(terms, ",\n");
		int rc = set_term(d, terms, n, depth, e);

		if (rc < 0 || terms[n] != ',')
			return rc;
		terms += n + 1;
	}
}

int counter_device_find(const char *root, const char *device, const char *terms,
			struct counter_device_event *ret, struct err *e)
{
	struct device d = { .root = root, .name = device };
	char text[TEXT_CAP];
	uint64_t type;
	int rc;

	if (!*device || strchr(device, '/') || *device == '.')
		return err_set(e, ERR_USAGE, "'%.40s' counts nothing", device);
	if (read_file(&d, ".", "type", text, NULL) < 0)
		return err_set(e, ERR_USAGE, "no device '%.40s' counts here (see %s)",
			       device, root);
	text[strcspn(text, "\n")] = '\0';
	if (text_parse_u64(text, &type, NULL) < 0 || type > UINT32_MAX)
		return err_set(e, ERR_FORMAT, "%s/%.40s/type is no number", root, device);
	d.event.type = (uint32_t)type;
	rc = set_terms(&d, terms, 0, e);
	if (rc == 0)
		*ret = d.event;
	return rc;
}
