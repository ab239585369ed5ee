/* SPDX-License-Identifier: Apache-2.0 */
#include "base/moment.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define DAY_S	   86400
#define FAR_S	   (INT64_C(1) << 40) /* no clock shows such years */
#define MAX_SPAN_S (1000 * INT64_C(366) * DAY_S)
#define MAX_TEXT   64

/* A cursor over the text; every taker leaves it where it was when it fails. */
struct cursor {
	const char *at;
};

static void skip_blanks(struct cursor *c)
{
	while (*c->at == ' ')
		c->at++;
}

static bool take_char(struct cursor *c, char want)
{
	if (*c->at != want)
		return false;
	c->at++;
	return true;
}

static bool take_word(struct cursor *c, const char *word)
{
	size_t n = strlen(word);

	if (strncasecmp(c->at, word, n) != 0 || isalpha((unsigned char)c->at[n]))
		return false;
	c->at += n;
	skip_blanks(c);
	return true;
}

static bool take_digits(struct cursor *c, unsigned min, unsigned max, int64_t *ret)
{
	unsigned n = 0;
	int64_t v = 0;

	while (n < max && isdigit((unsigned char)c->at[n]))
		v = v * 10 + (c->at[n++] - '0');
	if (n < min)
		return false;
	c->at += n;
	*ret = v;
	return true;
}

static const struct {
	const char *name;
	int64_t seconds;
} units[] = {
	{ "seconds", 1 },	{ "second", 1 },
	{ "sec", 1 },		{ "s", 1 },
	{ "minutes", 60 },	{ "minute", 60 },
	{ "min", 60 },		{ "m", 60 },
	{ "hours", 3600 },	{ "hour", 3600 },
	{ "h", 3600 },		{ "days", DAY_S },
	{ "day", DAY_S },	{ "d", DAY_S },
	{ "weeks", 7 * DAY_S }, { "week", 7 * DAY_S },
	{ "w", 7 * DAY_S },
};

static bool take_unit(struct cursor *c, int64_t *ret)
{
	skip_blanks(c);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!take_word(c, units[i].name))
			continue;
		*ret = units[i].seconds;
		return true;
	}
	return false;
}

/* 1h30m, 3 days */
static bool take_span(struct cursor *c, int64_t *ret)
{
	int64_t total = 0, n, unit;
	bool has_any = false;

	while (isdigit((unsigned char)*c->at)) {
		if (!take_digits(c, 1, 9, &n) || !take_unit(c, &unit))
			return false;
		total += n * unit;
		has_any = true;
		if (total > MAX_SPAN_S)
			return false;
	}
	*ret = total;
	return has_any;
}

static bool take_clock(struct cursor *c, struct tm *tm)
{
	int64_t hour, minute, second = 0;

	if (!take_digits(c, 1, 2, &hour) || !take_char(c, ':') ||
	    !take_digits(c, 2, 2, &minute))
		return false;
	if (take_char(c, ':') && !take_digits(c, 2, 2, &second))
		return false;
	if (hour > 23 || minute > 59 || second > 60)
		return false;
	tm->tm_hour = (int)hour;
	tm->tm_min = (int)minute;
	tm->tm_sec = (int)second;
	return true;
}

static bool set_date(struct tm *tm, int64_t year, int64_t month, int64_t day)
{
	static const int days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	if (year < 1970 || month < 1 || month > 12 || day < 1 || day > days[month - 1] ||
	    (month == 2 && day == 29 && !is_leap))
		return false;
	*tm = (struct tm){ .tm_year = (int)year - 1900,
			   .tm_mon = (int)month - 1,
			   .tm_mday = (int)day };
	return true;
}

static bool take_date(struct cursor *c, struct tm *tm)
{
	int64_t year, month, day;

	return take_digits(c, 4, 4, &year) && take_char(c, '-') &&
	       take_digits(c, 1, 2, &month) && take_char(c, '-') &&
	       take_digits(c, 1, 2, &day) && set_date(tm, year, month, day);
}

static bool take_compact(struct cursor *c, struct tm *tm)
{
	int64_t year, month, day, hour, minute, second;

	if (!take_digits(c, 4, 4, &year) || !take_digits(c, 2, 2, &month) ||
	    !take_digits(c, 2, 2, &day) || !take_char(c, 'T') ||
	    !take_digits(c, 2, 2, &hour) || !take_digits(c, 2, 2, &minute) ||
	    !take_digits(c, 2, 2, &second) || !set_date(tm, year, month, day) ||
	    hour > 23 || minute > 59 || second > 60)
		return false;
	tm->tm_hour = (int)hour;
	tm->tm_min = (int)minute;
	tm->tm_sec = (int)second;
	return true;
}

static int64_t seconds_of(struct tm *tm, bool is_utc)
{
	tm->tm_isdst = -1;
	return is_utc ? timegm(tm) : mktime(tm);
}

static bool parse_relative(struct cursor c, int64_t now_s, int64_t *ret)
{
	bool is_past = take_char(&c, '-');
	bool is_future = !is_past && take_char(&c, '+');
	int64_t span;

	if (!take_span(&c, &span))
		return false;
	if (!is_past && !is_future && !take_word(&c, "ago"))
		return false;
	*ret = is_future ? now_s + span : now_s - span;
	return !*c.at;
}

/* A day by its name or date, a time of the day, or both. */
static bool parse_calendar(struct cursor c, int64_t now_s, int64_t *ret)
{
	const time_t now = (time_t)now_s;
	struct cursor start = c;
	bool has_day = true, is_compact;
	struct tm tm;

	if (!localtime_r(&now, &tm))
		return false;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	is_compact = take_compact(&c, &tm);
	if (!is_compact) {
		c = start;
		if (take_word(&c, "yesterday"))
			tm.tm_mday--;
		else if (!take_word(&c, "today")) {
			has_day = take_date(&c, &tm);
			c = has_day ? c : start;
		}
		if (has_day)
			take_char(&c, 'T');
		skip_blanks(&c);
		if (!has_day || isdigit((unsigned char)*c.at))
			if (!take_clock(&c, &tm))
				return false;
	}
	skip_blanks(&c);

	bool is_utc = take_char(&c, 'Z') || take_word(&c, "UTC") || is_compact;

	*ret = seconds_of(&tm, is_utc);
	return !*c.at;
}

static bool parse_seconds(struct cursor c, int64_t *ret)
{
	return take_char(&c, '@') && take_digits(&c, 1, 12, ret) && !*c.at;
}

int moment_parse(const char *s, int64_t now_s, int64_t *ret_s, struct err *e)
{
	struct cursor c = { s };
	int64_t at = 0;

	skip_blanks(&c);
	if (strlen(s) < MAX_TEXT && now_s >= 0 && now_s < FAR_S) {
		struct cursor word = c;

		if (take_word(&word, "now") && !*word.at) {
			*ret_s = now_s;
			return 0;
		}
		if (parse_relative(c, now_s, &at) || parse_calendar(c, now_s, &at) ||
		    parse_seconds(c, &at)) {
			*ret_s = at;
			return 0;
		}
	}
	return err_set(e, ERR_USAGE,
		       "'%.40s' is no time: try -2h, 10:30, yesterday, 2026-11-21 10:30",
		       s);
}

static char *print(char out[MOMENT_MAX], const char *format, const struct tm *tm)
{
	if (!strftime(out, MOMENT_MAX, format, tm))
		out[0] = '\0';
	return out;
}

char *moment_text(char out[MOMENT_MAX], int64_t s)
{
	const time_t t = (time_t)s;
	struct tm tm = { 0 };

	localtime_r(&t, &tm);
	return print(out, "%Y-%m-%d %H:%M:%S", &tm);
}

char *moment_compact(char out[MOMENT_MAX], int64_t s)
{
	const time_t t = (time_t)s;
	struct tm tm = { 0 };

	gmtime_r(&t, &tm);
	return print(out, "%Y%m%dT%H%M%S", &tm);
}
