/* SPDX-License-Identifier: Apache-2.0
 *
 * engine_file - the engine's own file, as it executes itself.
 *
 * By /proc/self/exe it always finds itself, unless somebody who traces it has other files
 * in place of what it names, as proot does: then by the path that it had.
 */
#ifndef DWELL_COUNT_ENGINE_FILE_H
#define DWELL_COUNT_ENGINE_FILE_H

/* While nobody else can have come between. */
void engine_file_init(void);

/* NULL: whoever executes what is named so may get another program. */
const char *engine_file_name(void);

#endif
