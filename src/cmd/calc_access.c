/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/calc_access.h"

#include <math.h>

#include "base/text.h"

#define MOSTLY	   0.9 /* of the strides are one */
#define LEAST_SEEN 16  /* of them: fewer may be one by chance */
#define LEAST_LOST 0.1 /* of the times where is not known: it is told */

/* Most came only once, so that there are more than were seen. */
static bool is_part(const struct distinct *d)
{
	return 2 * distinct_once(d) > distinct_count(d);
}

/* "7 lines", "~1,200 lines": those that are many were not all kept; "≥ 8,500 lines". */
static void put_number(const struct distinct *d, const char *what, struct buf *b)
{
	double n = distinct_count(d);
	double unit = n > 100 ? pow(10, floor(log10(n)) - 1) : 1;
	char text[TEXT_MAX];

	buf_printf(b, "%s%s",
		   is_part(d)		 ? "≥ "
		   : d->n < DISTINCT_MAX ? ""
					 : "~",
		   text_number(text, (uint64_t)(round(n / unit) * unit), what));
}

void calc_access_places(const struct access_place *a, struct buf *ret)
{
	int64_t by = 0;
	bool is_one = access_places_main_stride(a, &by) >= MOSTLY &&
		      a->sums[ACCESS_AGAIN] >= LEAST_SEEN;
	char text[TEXT_MAX], size[TEXT_MAX];

	if (!a->sums[ACCESS_MET])
		return;
	if (is_one && by) {
		buf_printf(
			ret, "walks by %s%s over %s", by < 0 ? "-" : "",
			text_number(text, by < 0 ? -(uint64_t)by : (uint64_t)by, "bytes"),
			text_size(size, a->high - a->low));
		return;
	}
	put_number(&a->lines, "lines", ret);
	buf_puts(ret, " in ");
	put_number(&a->pages, "pages", ret);
}

void calc_access_share(const struct access_place *a, struct buf *ret)
{
	double met = (double)a->sums[ACCESS_MET];
	double all = met + (double)a->sums[ACCESS_UNKNOWN];
	char text[TEXT_MAX];

	if (met < (1 - LEAST_LOST) * all)
		buf_printf(ret, "known %s of the times", text_pct(text, met, all));
}

static void put_strides(const struct access_place *a, struct json *j)
{
	json_key(j, "strides");
	json_array(j);
	for (unsigned i = 0; i < ACCESS_PLACE_STRIDES; i++) {
		if (!a->strides[i].times)
			continue;
		json_object(j);
		json_key(j, "bytes");
		json_i64(j, a->strides[i].by);
		json_key_u64(j, "times", a->strides[i].times);
		json_object_end(j);
	}
	json_array_end(j);
}

void calc_access_json(const struct access_place *a, struct json *j)
{
	static const struct {
		const char *key;
		enum model_access_what what;
	} sums[] = {
		{ "known", ACCESS_MET },
		{ "unknown", ACCESS_UNKNOWN },
		{ "again", ACCESS_AGAIN },
		{ "to_another_line", ACCESS_OTHER_LINE },
		{ "to_another_page", ACCESS_OTHER_PAGE },
		{ "not_seen_again", ACCESS_LAST },
	};

	json_object(j);
	json_key_u64(j, "samples", a->samples);
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		json_key_u64(j, sums[i].key, a->sums[sums[i].what]);
	json_key_double(j, "lines", distinct_count(&a->lines));
	json_key_double(j, "lines_once", distinct_once(&a->lines));
	json_key_double(j, "pages", distinct_count(&a->pages));
	json_key_double(j, "pages_once", distinct_once(&a->pages));
	if (a->low <= a->high) {
		json_key_u64(j, "lowest", a->low);
		json_key_u64(j, "highest", a->high);
	}
	put_strides(a, j);
	json_object_end(j);
}
