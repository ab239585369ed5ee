/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A MANIFEST of any bytes: refused with a text, or all of it comes back after writing.
 * Each input is tried as it is and with a right checksum behind it.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/own.h"
#include "store/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_true)
{
	if (!is_true)
		abort();
}

static void try_bytes(const void *data, size_t size)
{
	own(buf_fini) struct buf text = { 0 };
	struct manifest m, again;
	struct err e = { 0 };

	if (manifest_parse(data, size, &m, &e) < 0) {
		check(e.text[0] && !strchr(e.text, '\n'));
		return;
	}
	manifest_encode(&m, &text);
	check(manifest_parse(text.data, text.size, &again, NULL) == 0);
	check(strcmp(m.host, again.host) == 0 && strcmp(m.label, again.label) == 0 &&
	      m.epoch == again.epoch && m.start_s == again.start_s &&
	      m.end_s == again.end_s && m.period_ns == again.period_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	own(buf_fini) struct buf sealed = { 0 };

	try_bytes(data, size);
	buf_add(&sealed, data, size);
	buf_printf(&sealed, "crc %08x\n", crc32c(0, data, size));
	try_bytes(sealed.data, sealed.size);
	return 0;
}
