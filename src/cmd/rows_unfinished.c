/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/rows_unfinished.h"

#include "base/text.h"
#include "cmd/report_text.h"

void rows_unfinished_who(struct buf *b, const char *thread, uint64_t n)
{
	char count[TEXT_MAX];

	report_text_safe(b, thread);
	if (n > 1)
		buf_printf(b, " and others, %s together", text_count(count, n));
}

void rows_unfinished_since(struct buf *b, uint64_t since_ns, uint64_t n)
{
	char since[TEXT_MAX];

	if (since_ns != UINT64_MAX)
		buf_printf(b, ", since %s", text_duration(since, since_ns));
	else if (n == 1)
		buf_puts(b, ", since before the recording");
}
