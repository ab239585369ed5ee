/* SPDX-License-Identifier: Apache-2.0
 *
 * io_recorder - system calls that read and write, into one recording after the other.
 *
 * A recorder (collect/recorder.h) of the plan of the experiment io.  Each sample's stack
 * ends in the call, the file and, where one is of a size, a duration or an error, that.
 */
#ifndef DWELL_COLLECT_IO_RECORDER_H
#define DWELL_COLLECT_IO_RECORDER_H

#include "base/err.h"
#include "base/own.h"
#include "collect/summing.h"

/* Its programs. */
extern const struct summing_kind io_recorder_kind;

#endif
