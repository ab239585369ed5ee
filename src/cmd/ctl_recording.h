/* SPDX-License-Identifier: Apache-2.0
 *
 * ctl_recording - 'dwell ctl' for the recordings that observe a process.
 */
#ifndef DWELL_CMD_CTL_RECORDING_H
#define DWELL_CMD_CTL_RECORDING_H

#include "cmd/option.h"

/* The words say a process: "mark PID NAME", "status PID". */
bool ctl_recording_is_meant(const struct options *o);
must_use int ctl_recording_run(const struct options *o, struct err *e);

#endif
