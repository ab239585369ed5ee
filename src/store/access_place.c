/* SPDX-License-Identifier: Apache-2.0 */
#include "store/access_place.h"

#include "store/writer.h"

void access_place_init(struct access_place *p)
{
	*p = (struct access_place){ .low = UINT64_MAX };
}

/* The rarest makes room. */
static void add_stride(struct access_place *p, int64_t by, uint64_t times)
{
	struct access_place_stride *least = p->strides;

	for (unsigned i = 0; i < ACCESS_PLACE_STRIDES; i++) {
		struct access_place_stride *s = &p->strides[i];

		if (s->times && s->by == by) {
			s->times += times;
			return;
		}
		if (s->times < least->times)
			least = s;
	}
	if (times > least->times)
		*least = (struct access_place_stride){ by, times };
}

static uint64_t zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static int64_t unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1 ^ -(v & 1));
}

void access_place_add(struct access_place *p, const struct model_access *a)
{
	if (a->what >= ACCESS_N_WHATS)
		return;
	p->sums[a->what] += a->times;
	switch (a->what) {
	case ACCESS_MET:
		p->samples += a->value;
		break;
	case ACCESS_LINE:
		distinct_add(&p->lines, (uint32_t)a->value, a->times);
		break;
	case ACCESS_PAGE:
		distinct_add(&p->pages, (uint32_t)a->value, a->times);
		break;
	case ACCESS_STRIDE:
		add_stride(p, unzigzag(a->value), a->times);
		break;
	case ACCESS_LOWEST:
		p->low = a->value < p->low ? a->value : p->low;
		break;
	case ACCESS_HIGHEST:
		p->high = a->value > p->high ? a->value : p->high;
		break;
	}
}

/* As rows. */

struct rows {
	uint32_t process, location;
	struct writer *writer;
};

static void put(const struct rows *to, enum model_access_what what, uint64_t value,
		uint64_t times)
{
	if (times)
		writer_access(to->writer,
			      &(struct model_access){ to->process, to->location, what,
						      value, times });
}

static void put_distinct(const struct rows *to, enum model_access_what what,
			 const struct distinct *d)
{
	for (uint32_t i = 0; i < d->n; i++)
		put(to, what, d->kept[i].hash, d->kept[i].times);
}

/* Of what has no value. */
static const enum model_access_what plain_sums[] = {
	ACCESS_UNKNOWN, ACCESS_AGAIN, ACCESS_OTHER_LINE, ACCESS_OTHER_PAGE, ACCESS_LAST,
};

void access_place_write(const struct access_place *p, uint32_t process, uint32_t location,
			struct writer *w)
{
	const struct rows to = { process, location, w };

	put(&to, ACCESS_MET, p->samples, p->sums[ACCESS_MET]);
	for (unsigned i = 0; i < sizeof(plain_sums) / sizeof(plain_sums[0]); i++)
		put(&to, plain_sums[i], 0, p->sums[plain_sums[i]]);
	put_distinct(&to, ACCESS_LINE, &p->lines);
	put_distinct(&to, ACCESS_PAGE, &p->pages);
	for (unsigned i = 0; i < ACCESS_PLACE_STRIDES; i++)
		put(&to, ACCESS_STRIDE, zigzag(p->strides[i].by), p->strides[i].times);
	if (p->low <= p->high) {
		put(&to, ACCESS_LOWEST, p->low, 1);
		put(&to, ACCESS_HIGHEST, p->high, 1);
	}
}
