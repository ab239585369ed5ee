/* SPDX-License-Identifier: Apache-2.0
 *
 * relocate - the engine's own addresses, which it makes true before all else.
 */
#ifndef DWELL_COUNT_RELOCATE_H
#define DWELL_COUNT_RELOCATE_H

#include <elf.h>
#include <stdint.h>

void relocate(const Elf64_Dyn *dynamic, uint64_t base);

#endif
