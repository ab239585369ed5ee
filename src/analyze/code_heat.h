/* SPDX-License-Identifier: Apache-2.0
 *
 * code_heat - which lines of code are executed nearly all the time, so that they stay in
 * the first level's cache of code, and how often other code may have driven them out.
 *
 * A cache of 32 KB holds the hottest half as many lines until as many others have been
 * executed; the time that was sampled elsewhere tells how often that may have been, and
 * each sample and each tick of the kernel's clock may have done so, too.
 */
#ifndef DWELL_ANALYZE_CODE_HEAT_H
#define DWELL_ANALYZE_CODE_HEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

struct profile;

struct code_heat {
	struct map hot;	  /* lines of images: those where most time is */
	double elsewhere; /* time, as weights of its columns */
	uint64_t n_samples;
	bool is_known;	      /* all that was sampled is in the profile */
	bool is_of_few_pages; /* the hot ones are */
};

/* By all samples of time. */
void code_heat_init(struct code_heat *ret, const struct profile *p);
void code_heat_fini(struct code_heat *h);

/* The same of a range of code of one image. */
struct code_heat_lines {
	uint64_t first; /* line */
	uint32_t n;
	bool *is_hot;
	/* How often each hot one may have been gone, and the translation of its page;
	 * negative: nobody knows. */
	double refills, page_refills;
};

/* cycles: of a weight of one. */
void code_heat_lines_init(struct code_heat_lines *ret, const struct code_heat *h,
			  uint32_t sym_image, uint64_t start, uint64_t size,
			  double cycles);
void code_heat_lines_fini(struct code_heat_lines *l);
/* Of the line at the address. */
double code_heat_lines_refills(const struct code_heat_lines *l, uint64_t address);
double code_heat_lines_page_refills(const struct code_heat_lines *l, uint64_t address);

#endif
