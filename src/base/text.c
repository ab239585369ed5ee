/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/vec.h"

struct unit {
	const char *name;
	double factor;
};

/* Three significant digits: 1.43, 14.3, 143. */
static char *scaled(char *s, double v, const char *unit)
{
	int decimals = v < 9.995 ? 2 : v < 99.95 ? 1 : 0;

	snprintf(s, TEXT_MAX, "%.*f %s", decimals, v, unit);
	return s;
}

char *text_duration(char *s, uint64_t ns)
{
	static const struct unit steps[] = { { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	char whole[TEXT_MAX];
	size_t i = 0;

	if (ns < 1000) {
		snprintf(s, TEXT_MAX, ns ? "%" PRIu64 " ns" : "%" PRIu64 " s", ns);
		return s;
	}
	/* 999.5 of a unit would be printed as 1000: take the next one. */
	while (i < 2 && (double)ns / steps[i].factor >= 999.5)
		i++;
	if ((double)ns / steps[i].factor < 999.5)
		return scaled(s, (double)ns / steps[i].factor, steps[i].name);
	snprintf(s, TEXT_MAX, "%s s",
		 text_count(whole, ns / 1000000000 + (ns % 1000000000 >= 500000000)));
	return s;
}

char *text_size(char *s, uint64_t bytes)
{
	static const char *const units[] = { "KB", "MB", "GB", "TB", "PB", "EB" };
	double v = (double)bytes / 1024;
	size_t i = 0;

	if (bytes < 1024) {
		snprintf(s, TEXT_MAX, "%" PRIu64 " B", bytes);
		return s;
	}
	for (; v >= 1023.5 && i < 5; i++)
		v /= 1024;
	snprintf(s, TEXT_MAX, "%.*f %s", v < 99.95 ? 1 : 0, v, units[i]);
	return s;
}

char *text_count(char *s, uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	char *to = s;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return s;
}

char *text_number(char *s, uint64_t n, const char *plural)
{
	char one[TEXT_MAX];
	size_t len = strlen(text_count(s, n));

	snprintf(s + len, TEXT_MAX - len, " %s",
		 n == 1 ? text_singular(one, sizeof(one), plural) : plural);
	return s;
}

char *text_pct(char *s, double part, double whole)
{
	double pct = whole > 0 ? 100 * part / whole : 0;

	if (part > 0 && fabs(pct) < 0.005)
		snprintf(s, TEXT_MAX, "<0.01 %%");
	else
		snprintf(s, TEXT_MAX, "%.*f %%", fabs(pct) < 0.995 && part != 0 ? 2 : 1,
			 pct);
	return s;
}

char *text_value(char *s, uint64_t value, const char *unit)
{
	if (unit && strcmp(unit, "ns") == 0)
		return text_duration(s, value);
	if (unit && strcmp(unit, "bytes") == 0)
		return text_size(s, value);
	return text_count(s, value);
}

/* The factor of the unit that is all of s, or 0. */
static double unit_factor(const struct unit *units, const char *s)
{
	for (; units->name; units++)
		if (strcasecmp(units->name, s) == 0)
			return units->factor;
	return 0;
}

static int not_a_number(const char *s, struct err *e)
{
	bool is_negative = s[0] == '-' && isdigit((unsigned char)s[1]);

	return err_set(e, ERR_USAGE, "'%.40s' is %s", s,
		       is_negative ? "negative" : "not a number");
}

/* A decimal number (no sign, exponent or "inf") and where its unit begins. */
static int parse_number(const char *s, double *ret, const char **unit, struct err *e)
{
	size_t len = strspn(s, "0123456789.");
	char *end;

	if (!isdigit((unsigned char)s[0]) || len >= TEXT_MAX)
		return not_a_number(s, e);

	char digits[TEXT_MAX];

	memcpy(digits, s, len);
	digits[len] = '\0';
	*ret = strtod(digits, &end);
	if (*end)
		return not_a_number(s, e);
	*unit = s + len + strspn(s + len, " ");
	return 0;
}

static int parse_scaled(const char *s, const struct unit *units, const char *default_unit,
			const char *what, uint64_t *ret, struct err *e)
{
	const char *unit = "";
	double v = 0;
	int rc = parse_number(s, &v, &unit, e);

	if (rc < 0)
		return rc;

	double factor = unit_factor(units, *unit ? unit : default_unit);

	if (factor == 0)
		return err_set(e, ERR_USAGE, "'%.40s' is not a %s", s, what);
	v *= factor;
	if (v >= 0x1p63)
		return err_set(e, ERR_USAGE, "'%.40s' is too large", s);
	*ret = (uint64_t)(v + 0.5);
	return 0;
}

int text_parse_duration(const char *s, const char *default_unit, uint64_t *ret_ns,
			struct err *e)
{
	static const struct unit units[] = {
		{ "ns", 1 },	  { "us", 1e3 }, { "µs", 1e3 },	  { "ms", 1e6 },
		{ "s", 1e9 },	  { "m", 60e9 }, { "min", 60e9 }, { "h", 3600e9 },
		{ "d", 86400e9 }, { NULL, 0 },
	};

	return parse_scaled(s, units, default_unit ? default_unit : "s",
			    "duration (such as 500us, 10ms, 1.5s)", ret_ns, e);
}

int text_parse_size(const char *s, uint64_t *ret_bytes, struct err *e)
{
	static const struct unit units[] = {
		{ "B", 1 },	   { "K", 0x1p10 }, { "KB", 0x1p10 },
		{ "KiB", 0x1p10 }, { "M", 0x1p20 }, { "MB", 0x1p20 },
		{ "MiB", 0x1p20 }, { "G", 0x1p30 }, { "GB", 0x1p30 },
		{ "GiB", 0x1p30 }, { "T", 0x1p40 }, { "TB", 0x1p40 },
		{ "TiB", 0x1p40 }, { NULL, 0 },
	};

	return parse_scaled(s, units, "B", "size (such as 64K, 10M, 1G)", ret_bytes, e);
}

int text_parse_u64(const char *s, uint64_t *ret, struct err *e)
{
	bool is_hex = text_starts(s, "0x") || text_starts(s, "0X");
	char *end;

	if (!isxdigit((unsigned char)s[is_hex ? 2 : 0]))
		return not_a_number(s, e);
	errno = 0;

	unsigned long long v = strtoull(s, &end, is_hex ? 16 : 10);

	if (*end)
		return not_a_number(s, e);
	if (errno == ERANGE)
		return err_set(e, ERR_USAGE, "'%.40s' is too large", s);
	*ret = v;
	return 0;
}

/* What would move the cursor, colour, or turn the direction of a line. */
static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
	       c == 0xfeff;
}

char *text_singular(char *dst, size_t cap, const char *plural)
{
	static const struct {
		const char *many, *one; /* ends; the first that a word has */
	} ends[] = {
		{ "ies", "y" }, { "sses", "ss" }, { "ches", "ch" }, { "shes", "sh" },
		{ "xes", "x" }, { "ss", "ss" },	  { "us", "us" },   { "is", "is" },
		{ "s", "" },	{ "", "" },
	};
	size_t i = 0;

	while (!text_ends(plural, ends[i].many))
		i++;
	snprintf(dst, cap, "%.*s%s", (int)(strlen(plural) - strlen(ends[i].many)), plural,
		 ends[i].one);
	return dst;
}

char *text_printable(char *dst, size_t cap, const char *src)
{
	size_t n = strlen(src), to = 0;

	for (size_t i = 0; i < n;) {
		size_t len = utf8_length(src + i, n - i);
		bool is_raw = len && !is_control(utf8_decode(src + i, len));
		size_t bytes = len ? len : 1;

		if (to + (is_raw ? bytes : bytes * 4) >= cap)
			break;
		for (size_t k = 0; k < bytes; k++, i++) {
			if (is_raw)
				dst[to++] = src[i];
			else
				to += (size_t)sprintf(dst + to, "\\x%02x",
						      (unsigned char)src[i]);
		}
	}
	if (cap)
		dst[to] = '\0';
	return dst;
}

struct range {
	uint32_t first, last;
};

static bool in_ranges(const struct range *r, size_t n, uint32_t c)
{
	for (size_t i = 0; i < n && r[i].first <= c; i++)
		if (c <= r[i].last)
			return true;
	return false;
}

/* Columns by Unicode's East Asian Width and general category, without the locale
 * that wcwidth() would need. */
static size_t char_width(uint32_t c)
{
	static const struct range wide[] = {
		{ 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x2e80, 0x303e },
		{ 0x3041, 0x33ff },   { 0x3400, 0x4dbf },   { 0x4e00, 0xa4cf },
		{ 0xa960, 0xa97f },   { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },
		{ 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },
		{ 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff },
		{ 0x20000, 0x3fffd },
	};
	static const struct range none[] = {
		{ 0x300, 0x36f },     { 0x483, 0x489 },	  { 0x591, 0x5bd },
		{ 0x610, 0x61a },     { 0x64b, 0x65f },	  { 0x900, 0x902 },
		{ 0x1ab0, 0x1aff },   { 0x1dc0, 0x1dff }, { 0x200b, 0x200f },
		{ 0x20d0, 0x20ff },   { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f },
		{ 0xe0100, 0xe01ef },
	};

	if (in_ranges(none, sizeof(none) / sizeof(none[0]), c))
		return 0;
	return in_ranges(wide, sizeof(wide) / sizeof(wide[0]), c) ? 2 : 1;
}

size_t text_width(const char *s)
{
	size_t n = strlen(s), width = 0;

	for (size_t i = 0; i < n;) {
		size_t len = utf8_length(s + i, n - i);

		width += len ? char_width(utf8_decode(s + i, len)) : 1;
		i += len ? len : 1;
	}
	return width;
}

static size_t min_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Optimal string alignment: insertions, deletions, replacements and swaps of two
 * neighbours, which is what fingers do. */
size_t text_distance(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	VEC(size_t) cells = { 0 };

	vec_reserve(&cells, 3 * (nb + 1));

	size_t *before = cells.at, *prev = before + nb + 1, *row = prev + nb + 1;

	for (size_t k = 0; k <= nb; k++)
		row[k] = k;
	for (size_t i = 1; i <= na; i++) {
		size_t *oldest = before;

		before = prev;
		prev = row;
		row = oldest;
		row[0] = i;
		for (size_t k = 1; k <= nb; k++) {
			bool differs = a[i - 1] != b[k - 1];

			row[k] = min_of(min_of(prev[k], row[k - 1]) + 1,
					prev[k - 1] + differs);
			if (differs && i > 1 && k > 1 && a[i - 1] == b[k - 2] &&
			    a[i - 2] == b[k - 1])
				row[k] = min_of(row[k], before[k - 2] + 1);
		}
	}

	size_t distance = row[nb];

	vec_fini(&cells);
	return distance;
}

bool text_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool text_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), tail = strlen(suffix);

	return n >= tail && strcmp(s + n - tail, suffix) == 0;
}
