/* SPDX-License-Identifier: Apache-2.0
 *
 * symbol_file - of an ELF file what names its functions, as a small ELF file.
 *
 * Headers are the same, so that places in the file mean the same; of the sections only
 * symbols, their names, notes and, where there are no more symbols than dynamic ones,
 * the unwind table, which tells where functions begin.
 */
#ifndef DWELL_HOST_SYMBOL_FILE_H
#define DWELL_HOST_SYMBOL_FILE_H

#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

/* Appends to an empty file no more than max_bytes.  ERR_FORMAT, ERR_UNSUPPORTED (32 bits,
 * too large): there are none to be had.  Descriptors are borrowed. */
must_use int symbol_file_write(int from, int to, uint64_t max_bytes, struct err *e);

#endif
