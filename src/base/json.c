/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

void json_init(struct json *j, FILE *out)
{
	*j = (struct json){ .out = out };
}

/* What separates this value from the one before it. */
static void begin_value(struct json *j)
{
	if (j->after_key) {
		j->after_key = false;
		return;
	}
	if (j->has_item[j->depth])
		fputc(',', j->out);
	j->has_item[j->depth] = true;
}

static void open_nest(struct json *j, char c)
{
	begin_value(j);
	fputc(c, j->out);
	assert(j->depth + 1 < JSON_MAX_DEPTH);
	j->has_item[++j->depth] = false;
}

static void close_nest(struct json *j, char c)
{
	assert(j->depth > 0 && !j->after_key);
	j->depth--;
	fputc(c, j->out);
}

void json_object(struct json *j)
{
	open_nest(j, '{');
}

void json_object_end(struct json *j)
{
	close_nest(j, '}');
}

void json_array(struct json *j)
{
	open_nest(j, '[');
}

void json_array_end(struct json *j)
{
	close_nest(j, ']');
}

static void put_escaped(FILE *out, unsigned char c)
{
	static const char short_form[128] = {
		['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n',  ['\r'] = 'r',
		['\t'] = 't', ['"'] = '"',  ['\\'] = '\\',
	};

	if (short_form[c])
		fprintf(out, "\\%c", short_form[c]);
	else
		fprintf(out, "\\u%04x", c);
}

static void put_string(struct json *j, const char *s, size_t n)
{
	fputc('"', j->out);
	for (size_t i = 0; i < n;) {
		size_t len = utf8_length(s + i, n - i);
		unsigned char c = (unsigned char)s[i];

		if (!len) {
			fputs("\xef\xbf\xbd", j->out);
			len = 1;
		} else if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f) {
			put_escaped(j->out, c);
		} else {
			fwrite(s + i, 1, len, j->out);
		}
		i += len;
	}
	fputc('"', j->out);
}

void json_key(struct json *j, const char *key)
{
	begin_value(j);
	put_string(j, key, strlen(key));
	fputc(':', j->out);
	j->after_key = true;
}

void json_strn(struct json *j, const char *s, size_t n)
{
	begin_value(j);
	put_string(j, s, n);
}

void json_str(struct json *j, const char *s)
{
	if (s)
		json_strn(j, s, strlen(s));
	else
		json_null(j);
}

void json_u64(struct json *j, uint64_t v)
{
	begin_value(j);
	fprintf(j->out, "%" PRIu64, v);
}

void json_i64(struct json *j, int64_t v)
{
	begin_value(j);
	fprintf(j->out, "%" PRId64, v);
}

void json_double(struct json *j, double v)
{
	char s[32];

	if (!isfinite(v)) {
		json_null(j);
		return;
	}
	for (int digits = 6; digits <= 17; digits++) {
		snprintf(s, sizeof(s), "%.*g", digits, v);
		if (strtod(s, NULL) == v)
			break;
	}
	begin_value(j);
	fputs(s, j->out);
}

void json_bool(struct json *j, bool v)
{
	begin_value(j);
	fputs(v ? "true" : "false", j->out);
}

void json_null(struct json *j)
{
	begin_value(j);
	fputs("null", j->out);
}

void json_key_str(struct json *j, const char *key, const char *s)
{
	json_key(j, key);
	json_str(j, s);
}

void json_key_u64(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	json_u64(j, v);
}

void json_key_double(struct json *j, const char *key, double v)
{
	json_key(j, key);
	json_double(j, v);
}

void json_key_bool(struct json *j, const char *key, bool v)
{
	json_key(j, key);
	json_bool(j, v);
}
