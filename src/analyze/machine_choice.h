/* SPDX-License-Identifier: Apache-2.0
 *
 * machine_choice - which machine a recording's code is thought to run on, and how fast.
 *
 * The user's choice, else what the recording says of its own.
 */
#ifndef DWELL_ANALYZE_MACHINE_CHOICE_H
#define DWELL_ANALYZE_MACHINE_CHOICE_H

#include "insn/machine_model.h"
#include "store/recording.h"

/* name: NULL for the recording's processor; machine: EM_… of its code. */
must_use int machine_choice_model(const struct recording *r, unsigned machine,
				  const char *name, const struct machine_model **ret,
				  struct err *e);
/* No model is made for the recording's processor, and of those for others it has this
 * one. */
bool machine_choice_is_nearest(const struct recording *r, const struct machine_model *m);
/* ghz: 0 for what was measured when recording. */
double machine_choice_clock_ghz(const struct recording *r, double ghz);

#endif
