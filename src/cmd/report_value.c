/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *of, *unit;
	double divisor;
} steps[] = {
	{ "ns", "s", 1e9 },
	{ "ns", "ms", 1e6 },
	{ "ns", "us", 1e3 },
	{ "ns", "ns", 1 },
	{ "bytes", "GB", 1073741824.0 },
	{ "bytes", "MB", 1048576.0 },
	{ "bytes", "KB", 1024.0 },
	{ "bytes", "B", 1 },
};

struct report_scale report_value_scale(uint64_t largest, const char *unit)
{
	struct report_scale scale = { 0 };

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (strcmp(steps[i].of, unit) != 0)
			continue;
		scale.divisor = steps[i].divisor;
		scale.unit = steps[i].unit;
		if ((double)largest >= steps[i].divisor)
			break;
	}
	if (scale.divisor > 1) {
		double v = (double)largest / scale.divisor;

		scale.decimals = v >= 1000 ? 0 : v >= 100 ? 1 : v >= 10 ? 2 : 3;
	}
	return scale;
}

char *report_value_text(char *s, uint64_t value, const struct report_scale *scale)
{
	if (value == 0)
		snprintf(s, TEXT_MAX, "–");
	else if (scale->divisor == 0)
		text_count(s, value);
	else
		snprintf(s, TEXT_MAX, "%.*f %s", scale->decimals,
			 (double)value / scale->divisor, scale->unit);
	return s;
}

char *report_value_change(char *s, int64_t delta, const struct report_scale *scale)
{
	uint64_t size = delta < 0 ? -(uint64_t)delta : (uint64_t)delta;
	char value[TEXT_MAX];

	report_value_text(value, size, scale);
	snprintf(s, TEXT_MAX, "%s%.*s",
		 delta < 0 ? "-"
		 : delta   ? "+"
			   : "",
		 TEXT_MAX - 2, value);
	return s;
}

char *report_value_ratio(char *s, double ratio)
{
	if (isnan(ratio))
		snprintf(s, TEXT_MAX, "–");
	else if (isinf(ratio) || ratio == 0)
		snprintf(s, TEXT_MAX, ratio == 0 ? "gone" : "new");
	else
		snprintf(s, TEXT_MAX, "%.*f×",
			 ratio < 10    ? 2
			 : ratio < 100 ? 1
				       : 0,
			 ratio);
	return s;
}

/* What is there is never shown as 0: least is the smallest number of so many decimals. */
static char *put_pct(char *s, uint64_t part, uint64_t whole, int decimals, double least)
{
	double pct = whole ? 100.0 * (double)part / (double)whole : 0;

	if (part == 0)
		snprintf(s, TEXT_MAX, "–");
	else if (pct < least / 2)
		snprintf(s, TEXT_MAX, "<%.*f %%", decimals, least);
	else
		snprintf(s, TEXT_MAX, "%.*f %%", decimals, pct);
	return s;
}

char *report_value_pct(char *s, uint64_t part, uint64_t whole)
{
	return put_pct(s, part, whole, 1, 0.1);
}

char *report_value_whole_pct(char *s, uint64_t part, uint64_t whole)
{
	return put_pct(s, part, whole, 0, 1);
}

int report_value_parse_pct(const char *s, double *ret, struct err *e)
{
	char *end;
	double v = strtod(s, &end);

	if (end == s || (*end && strcmp(end, "%") != 0) || !(v >= 0 && v <= 100))
		return err_set(e, ERR_USAGE, "'%.40s' is not a percentage from 0 to 100",
			       s);
	*ret = v;
	return 0;
}
