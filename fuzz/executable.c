/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that are mapped or run, and the notes in them.
 */
#include "host/executable.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "host/note.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	own(closep) int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct executable x;
	struct err e = { 0 };
	uint8_t id[EXECUTABLE_BUILD_ID_MAX];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (executable_probe(fd, &x, &e) < 0 && !e.text[0])
		abort();
	if (x.size_bytes != size || x.build_id_size > sizeof(x.build_id))
		abort();
	if (note_find_build_id(data, size, id, sizeof(id)) > sizeof(id))
		abort();
	return 0;
}
