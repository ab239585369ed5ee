/* SPDX-License-Identifier: Apache-2.0
 *
 * Any file, of which only the symbols are kept.
 */
#include "host/symbol_file.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/executable.h"

#define MOST 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	own(closep) int from = memfd_create("from", MFD_CLOEXEC);
	own(closep) int to = memfd_create("to", MFD_CLOEXEC);
	own(closep) int again = memfd_create("again", MFD_CLOEXEC);
	struct executable x;
	struct stat once, twice;
	struct err e = { 0 };

	if (size > 16384)
		return 0;
	if (from < 0 || to < 0 || again < 0 || write(from, data, size) != (ssize_t)size)
		abort();
	if (symbol_file_write(from, to, MOST, &e) < 0) {
		if (!e.text[0])
			abort();
		return 0;
	}
	/* An ELF file again, with the same in it. */
	if (executable_probe(to, &x, &e) < 0 ||
	    symbol_file_write(to, again, MOST, &e) < 0)
		abort();
	if (fstat(to, &once) < 0 || fstat(again, &twice) < 0 ||
	    once.st_size != twice.st_size || once.st_size > MOST)
		abort();
	return 0;
}
