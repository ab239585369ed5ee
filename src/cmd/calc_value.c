/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/calc_value.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define LEAST_PART  0.001 /* of a unit: what is less is nothing */
#define MANY_CYCLES 1e5	  /* are told in thousands and millions, as times are */

char *calc_value_cycles(char *s, double cycles)
{
	s[0] = 0;
	if (cycles < 0)
		return s;
	if (cycles >= 1000)
		return text_count(s, (uint64_t)llround(cycles));
	snprintf(s, TEXT_MAX, cycles >= 100 ? "%.0f" : "%.1f", cycles);
	return s;
}

char *calc_value_bound(char *s, double cycles)
{
	if (cycles < 0.05)
		snprintf(s, TEXT_MAX, "%.2f", fmax(cycles, 0.01));
	else
		snprintf(s, TEXT_MAX, "%.1f", cycles);
	return s;
}

char *calc_value_times(char *s, double times)
{
	s[0] = 0;
	return times < 0 ? s : text_count(s, (uint64_t)llround(times));
}

/* Two digits that count. */
static double rounded(double x)
{
	double step = x > 0 ? pow(10, floor(log10(x)) - 1) : 1;

	return round(x / step) * step;
}

static void put_short(char *s, double x)
{
	x = rounded(x);
	if (x >= 1000)
		text_count(s, (uint64_t)llround(x));
	else
		snprintf(s, TEXT_MAX,
			 x >= 9.95     ? "%.0f"
			 : x >= 0.0995 ? "%.2g"
				       : "%.1g",
			 x);
}

static bool is_one(double low, double high)
{
	return low < 0 || low == high;
}

/* What is the same in two digits is known that well. */
static void put_range(char *s, const char *from, const char *to, const char *unit)
{
	if (strcmp(from, to) == 0)
		snprintf(s, TEXT_MAX, "~%.16s%s", from, unit);
	else
		snprintf(s, TEXT_MAX, "%.16s–%.16s%s", from, to, unit);
}

/* How little is not known, or beside it nothing. */
static void put_most(char *s, double high)
{
	char most[TEXT_MAX];

	if (high >= 1000)
		text_count(most, (uint64_t)llround(rounded(high)));
	else
		snprintf(most, sizeof(most), "%.*f", high < 9.95 ? 1 : 0, high);
	snprintf(s, TEXT_MAX, "≤ %.32s", most);
}

char *calc_value_cycles_range(char *s, double low, double high)
{
	char from[TEXT_MAX], to[TEXT_MAX];

	if (is_one(low, high))
		return calc_value_cycles(s, low);
	if (low < 0.05 || low * MANY_CYCLES < high) {
		put_most(s, high);
		return s;
	}
	if (high >= MANY_CYCLES)
		return calc_value_times_range(s, low, high);
	put_short(from, low);
	put_short(to, high);
	put_range(s, from, to, "");
	return s;
}

char *calc_value_each(char *s, double cycles, double low, double high)
{
	char least[TEXT_MAX];

	s[0] = 0;
	if (high <= 0)
		return s;
	if (low > 0 || cycles <= 0)
		return calc_value_cycles_range(s, cycles / high,
					       cycles / (low > 0 ? low : high));
	put_short(least, cycles / high);
	snprintf(s, TEXT_MAX, "≥ %.32s", least);
	return s;
}

char *calc_value_times_range(char *s, double low, double high)
{
	static const struct {
		double from;
		const char *unit;
	} units[] = {
		{ 1e12, " T" }, { 1e9, " G" }, { 1e6, " M" }, { 1e4, " K" }, { 1, "" }
	};
	char from[TEXT_MAX], to[TEXT_MAX];
	unsigned i = 0;
	double unit;

	if (is_one(low, high))
		return calc_value_times(s, low);
	if (high < 1) {
		snprintf(s, TEXT_MAX, "0–1");
		return s;
	}
	while (high < units[i].from * 0.995)
		i++;
	unit = units[i].from >= 1e4 ? pow(1000, 4 - i) : 1;
	put_short(from, unit == 1		  ? floor(low)
			: low < LEAST_PART * unit ? 0
						  : low / unit);
	put_short(to, unit > 1 ? high / unit : ceil(high));
	put_range(s, from, to, units[i].unit);
	return s;
}
