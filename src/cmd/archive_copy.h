/* SPDX-License-Identifier: Apache-2.0
 *
 * archive_copy - a recording written again, everything in it in the same order.
 *
 * Ids stay what they are: dictionaries are dense and are entered in their order.
 */
#ifndef DWELL_CMD_ARCHIVE_COPY_H
#define DWELL_CMD_ARCHIVE_COPY_H

#include "base/err.h"
#include "base/own.h"
#include "store/recording.h"
#include "store/writer.h"

must_use int archive_copy(const struct recording *r, struct writer *w, struct err *e);

#endif
