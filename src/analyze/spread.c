/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/spread.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* Of the standard normal distribution: one value in twenty is larger. */
#define ONE_IN_TWENTY 1.6449

static double mean_total(const struct spread_sets *s)
{
	double sum = 0;

	for (size_t i = 0; i < s->n; i++)
		sum += (double)profile_column(s->profile, s->at[i].column)->total_weight;
	return s->n ? sum / (double)s->n : 0;
}

void spread_sets_init(struct spread_sets *ret, const struct profile *p,
		      const struct comparison *c, size_t event, bool is_share)
{
	struct spread_sets s = { .profile = p, .n = c->n_sources };

	s.at = xcalloc(s.n + 1, sizeof(*s.at));
	for (size_t i = 0; i < s.n; i++)
		s.at[i].column = comparison_column(c, event, i);

	double mean = mean_total(&s);

	for (size_t i = 0; i < s.n; i++) {
		const struct profile_column *column = profile_column(p, s.at[i].column);
		double total = (double)column->total_weight;

		s.at[i].factor = is_share && total > 0 ? mean / total : 1;
		s.at[i].total = is_share && total > 0 ? mean : total;
		s.at[i].each = comparison_sample_weight(column) * s.at[i].factor;
	}
	*ret = s;
}

void spread_sets_fini(struct spread_sets *s)
{
	free(s->at);
	*s = (struct spread_sets){ 0 };
}

static struct spread measure(const double *values, size_t n)
{
	struct spread r = { .min = n ? values[0] : 0 };
	double squares = 0;

	for (size_t i = 0; i < n; i++) {
		r.n += values[i] > 0;
		r.sum += values[i];
		r.min = values[i] < r.min ? values[i] : r.min;
		r.max = values[i] > r.max ? values[i] : r.max;
	}
	r.mean = n ? r.sum / (double)n : 0;
	for (size_t i = 0; i < n; i++)
		squares += (values[i] - r.mean) * (values[i] - r.mean);
	r.deviation = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
	r.range = r.sum > 0 ? (r.max - r.min) / r.sum : 0;
	return r;
}

/* The value that one chi-square in twenty exceeds (Wilson and Hilferty 1931). */
static double chi_square_limit(size_t degrees)
{
	double k = (double)degrees, a = 2 / (9 * k);
	double root = 1 - a + ONE_IN_TWENTY * sqrt(a);

	return k * root * root * root;
}

/* That of `tries`, each of which hits once in n times, so many hit or more. */
static double chance_of_hits(double tries, double hits, double n)
{
	double p = 1 / n, each = pow(1 - p, tries), sum = 0;

	for (double k = 0; k < hits; k++) {
		sum += each;
		each *= (tries - k) / (k + 1) * p / (1 - p);
	}
	return 1 - sum;
}

/* Where a recording has less than a sample of it, chi-square says little: how likely is
 * it that so many of them all are found in one? */
static bool is_rare_chance(const struct spread_sets *s, const double *values)
{
	double sum = 0, most = 0;

	for (size_t i = 0; i < s->n; i++) {
		double samples = round(values[i] / s->at[i].each);

		sum += samples;
		most = samples > most ? samples : most;
	}
	return chance_of_hits(sum, most, (double)s->n) * (double)s->n >= 0.05;
}

static double mean_weight(const struct spread_sets *s)
{
	double sum = 0;

	for (size_t i = 0; i < s->n; i++)
		sum += s->at[i].each;
	return sum / (double)s->n;
}

/* Each value is a number of samples out of those of its recording, so its variance is
 * known if all are the same but for sampling. */
static bool is_chance(const struct spread_sets *s, const struct spread *r,
		      const double *values)
{
	double totals = 0, chi_square = 0;

	if (s->n < 2 || r->max <= r->min)
		return false;
	for (size_t i = 0; i < s->n; i++) {
		totals += s->at[i].total;
		if (s->at[i].each <= 0)
			return false;
	}
	if (r->sum >= totals)
		return false;
	if (r->mean < mean_weight(s))
		return is_rare_chance(s, values);
	for (size_t i = 0; i < s->n; i++) {
		double off = values[i] - r->mean;
		double variance = r->mean * s->at[i].each * (1 - r->sum / totals);

		chi_square += off * off / variance;
	}
	return chi_square <= chi_square_limit(s->n - 1);
}

struct spread spread_of(const struct spread_sets *s, const uint64_t *values)
{
	own(freep) double *scaled = xcalloc(s->n + 1, sizeof(*scaled));
	struct spread r;

	for (size_t i = 0; i < s->n; i++)
		scaled[i] = (double)values[s->at[i].column] * s->at[i].factor;
	r = measure(scaled, s->n);
	r.is_chance = is_chance(s, &r, scaled);
	return r;
}

struct spread spread_of_totals(const struct spread_sets *s)
{
	own(freep) double *totals = xcalloc(s->n + 1, sizeof(*totals));

	for (size_t i = 0; i < s->n; i++)
		totals[i] = s->at[i].total;
	return measure(totals, s->n);
}
