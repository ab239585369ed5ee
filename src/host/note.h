/* SPDX-License-Identifier: Apache-2.0
 *
 * note - finds the build-id among ELF notes.
 */
#ifndef DWELL_HOST_NOTE_H
#define DWELL_HOST_NOTE_H

#include <stddef.h>
#include <stdint.h>

/* Returns its size, at most cap; 0 when there is none or it does not fit. */
size_t note_find_build_id(const void *notes, size_t size, uint8_t *ret, size_t cap);

#endif
