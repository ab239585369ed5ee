/* SPDX-License-Identifier: Apache-2.0
 *
 * name_to_type - what to type so that a command means this function.
 */
#ifndef DWELL_CMD_NAME_TO_TYPE_H
#define DWELL_CMD_NAME_TO_TYPE_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/profile.h"

/* Its name, without parameters if that means no other function, or when it takes more
 * columns than there is room for the shortened one, if that does.  The caller frees it;
 * the shell's quotes are not there. */
char *name_to_type(const struct profile *p, uint32_t function, size_t room);

#endif
