/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_rates.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "collect/system_event.h"
#include "collect/system_rate.h"

/* As often as counts in the kernel are drained; what comes in a burst, at once. */
#define TUNE_NS 1000000000

void perf_rates_fini(struct perf_rates *r)
{
	vec_fini(&r->files);
}

/* Where there was most, since the period was set. */
static uint64_t count_most(struct perf_rates *r, const struct perf_files *f,
			   uint32_t stream)
{
	uint64_t most = 0;

	for (size_t i = 0; i < f->files.n; i++) {
		struct perf_rates_file *at = &r->files.at[i];
		uint64_t now;

		if (f->files.at[i].stream != stream ||
		    read(f->files.at[i].fd, &now, sizeof(now)) != sizeof(now))
			continue;
		at->now = now;
		if (now >= at->tuned && now - at->tuned > most)
			most = now - at->tuned;
	}
	return most;
}

static void set_period(struct perf_rates *r, const struct perf_files *f, uint32_t stream,
		       uint64_t period, bool is_new)
{
	for (size_t i = 0; i < f->files.n; i++) {
		if (f->files.at[i].stream != stream)
			continue;
		r->files.at[i].tuned = r->files.at[i].now;
		if (is_new)
			ioctl(f->files.at[i].fd, PERF_EVENT_IOC_PERIOD, &period);
	}
}

static void tune(struct perf_rates *r, struct perf_files *f, uint32_t stream,
		 uint64_t now_ns)
{
	struct perf_stream *s = &f->streams.at[stream];
	const struct system_event ev = { .counter = s->plan->choice.experiment->counter };
	uint64_t period = s->attr.sample_period, ns = now_ns - s->tuned_ns;
	uint64_t most = count_most(r, f, stream);

	if (ns < TUNE_NS && !system_rate_is_exceeded(s->hz, most / period, ns))
		return;
	s->tuned_ns = now_ns;
	s->attr.sample_period =
		system_rate_period(period, system_event_least_period(&ev), s->hz,
				   (double)most * 1e9 / (double)ns);
	set_period(r, f, stream, s->attr.sample_period, s->attr.sample_period != period);
}

void perf_rates_tune(struct perf_rates *r, struct perf_files *f, uint64_t now_ns)
{
	while (r->files.n < f->files.n)
		*vec_push(&r->files) = (struct perf_rates_file){ 0 };
	for (uint32_t i = 0; i < f->streams.n; i++)
		if (f->streams.at[i].hz && !f->streams.at[i].attr.freq)
			tune(r, f, i, now_ns);
}
