/* SPDX-License-Identifier: Apache-2.0
 *
 * json - a writer that cannot produce malformed JSON.
 *
 * Commas, quoting and nesting are its business.  Bytes that are not UTF-8 become
 * U+FFFD, control characters are escaped, so names from profiled programs are safe.
 * Nesting is limited to JSON_MAX_DEPTH (asserted).
 */
#ifndef DWELL_BASE_JSON_H
#define DWELL_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_MAX_DEPTH 64

struct json {
	FILE *out;
	unsigned depth;
	bool has_item[JSON_MAX_DEPTH], after_key;
};

void json_init(struct json *j, FILE *out);
void json_object(struct json *j);     /* { */
void json_object_end(struct json *j); /* } */
void json_array(struct json *j);      /* [ */
void json_array_end(struct json *j);  /* ] */
void json_key(struct json *j, const char *key);
void json_str(struct json *j, const char *s); /* NULL writes null */
void json_strn(struct json *j, const char *s, size_t n);
void json_u64(struct json *j, uint64_t v);
void json_i64(struct json *j, int64_t v);
void json_double(struct json *j, double v); /* shortest exact; not finite: null */
void json_bool(struct json *j, bool v);
void json_null(struct json *j);

/* "key": value in one call. */
void json_key_str(struct json *j, const char *key, const char *s);
void json_key_u64(struct json *j, const char *key, uint64_t v);
void json_key_double(struct json *j, const char *key, double v);
void json_key_bool(struct json *j, const char *key, bool v);

#endif
