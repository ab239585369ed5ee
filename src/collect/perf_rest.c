/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_rest.h"

#include <sys/timerfd.h>

/* Each look costs as much as being woken does some times. */
#define REST_NS_MIN 4000000
#define REST_NS_MAX 20000000
/* What threads did in one of these is what they are taken to do in the next; they may be
 * kept from their CPUs for longer than a rest. */
#define WINDOW_NS 90000000
/* Of a sample, beside its stack: registers, the kernel's frames, headers of pieces. */
#define BESIDE_BYTES 4096
/* Of a CPU that does nothing but map files: 150 bytes each, and some 7 us. */
#define SIDE_BAND_BYTES_PER_NS 0.02

/* What may come at any time has no interval. */
static bool is_clock(const struct perf_stream *s)
{
	return s->attr.type == PERF_TYPE_SOFTWARE &&
	       s->attr.config == PERF_COUNT_SW_CPU_CLOCK && !s->hz;
}

static uint64_t sample_bytes(const struct perf_files *f, const struct perf_stream *s)
{
	return BESIDE_BYTES +
	       (f->deep && s->has_deep ? perf_deep_limit_bytes(f->deep) : s->dump_bytes);
}

/* Of a CPU, which runs one thread at a time. */
static double bytes_per_ns(const struct perf_files *f, bool *ret_is_bounded)
{
	double sum = SIDE_BAND_BYTES_PER_NS;

	*ret_is_bounded = true;
	vec_each(s, &f->streams) {
		if (s->spec->role == PERF_STREAM_SIDEBAND ||
		    s->spec->role == PERF_STREAM_DEEP)
			continue;
		if (is_clock(s))
			sum += (double)sample_bytes(f, s) / (double)s->attr.sample_period;
		else
			*ret_is_bounded = false;
	}
	return sum;
}

/* Who may not lock as much as was wanted has smaller ones. */
static size_t ring_bytes(const struct perf_files *f)
{
	size_t least = f->ring_bytes;

	vec_each(c, &f->cpus)
		if (c->ring.page && c->ring.size < least)
			least = c->ring.size;
	return least;
}

uint64_t perf_rest_ns(const struct perf_files *f, uint64_t late_ns)
{
	bool is_bounded;
	double rate = bytes_per_ns(f, &is_bounded), ns;

	if (!is_bounded || !f->streams.n || !f->streams.at[0].attr.inherit)
		return 0;
	ns = (double)ring_bytes(f) / 4 * 3 / rate;
	if (ns < (double)(REST_NS_MIN + late_ns))
		return 0;
	ns -= (double)late_ns;
	return ns < REST_NS_MAX ? (uint64_t)ns : REST_NS_MAX;
}

static bool is_begun(const struct perf_rest *r)
{
	const struct itimerspec when = { .it_value.tv_nsec = (long)r->ns };

	return r->timer >= 0 && timerfd_settime(r->timer, 0, &when, NULL) == 0;
}

/* Programs start with others that end, and nobody looks before a window is over. */
void perf_rest_begin(struct perf_rest *r, uint64_t rest_ns, uint64_t now_ns)
{
	*r = (struct perf_rest){
		.timer = -1, .ns = rest_ns, .since_ns = now_ns, .is_worth_it = true
	};
	if (rest_ns)
		r->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	r->is_on = is_begun(r);
}

void perf_rest_fini(struct perf_rest *r)
{
	closep(&r->timer);
}

void perf_rest_looked(struct perf_rest *r, uint64_t now_ns, uint64_t n_ended,
		      bool is_pressed)
{
	uint64_t window_ns = now_ns - r->since_ns;

	r->n_ended += n_ended;
	if (window_ns >= WINDOW_NS) {
		r->is_worth_it = r->n_ended * r->ns >= window_ns;
		r->n_ended = 0;
		r->since_ns = now_ns;
	}
	r->is_on = r->is_worth_it && !is_pressed && is_begun(r);
}
