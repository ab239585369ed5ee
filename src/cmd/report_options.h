/* SPDX-License-Identifier: Apache-2.0
 *
 * report_options - what every report command takes, in shared tables.
 */
#ifndef DWELL_CMD_REPORT_OPTIONS_H
#define DWELL_CMD_REPORT_OPTIONS_H

#include "cmd/option.h"

extern const struct option_spec report_options_input[];	 /* what is read */
extern const struct option_spec report_options_ideal[];	 /* of ideal time */
extern const struct option_spec report_options_sort[];	 /* in what order */
extern const struct option_spec report_options_match[];	 /* of several recordings */
extern const struct option_spec report_options_rows[];	 /* which rows */
extern const struct option_spec report_options_output[]; /* --json, --width */

#endif
