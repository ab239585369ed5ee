/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/probe_names.h"

#include <stdio.h>

#include "host/syscall_name.h"
#include "wire/probe_record.h"

void probe_names_call(uint32_t label, char ret[SYSTEM_COUNTS_LABEL_MAX])
{
	bool is_32bit = (label - 1) & PROBE_RECORD_IS_32BIT;
	uint32_t number = (label - 1) & PROBE_RECORD_NUMBER;
	const char *name = syscall_name(number, is_32bit);

	if (!label)
		*ret = '\0';
	else if (name)
		snprintf(ret, SYSTEM_COUNTS_LABEL_MAX, "[syscall %s]", name);
	else if (number == PROBE_RECORD_NO_CALL)
		snprintf(ret, SYSTEM_COUNTS_LABEL_MAX, "[no syscall]");
	else
		snprintf(ret, SYSTEM_COUNTS_LABEL_MAX, "[syscall %s%u]",
			 is_32bit ? "32-bit " : "", number);
}

void probe_names_error(uint64_t second, char ret[SYSTEM_COUNTS_LABEL_MAX])
{
	uint32_t error = PROBE_RECORD_ERROR_OF(second);
	const char *name = syscall_name_error(error);

	if (name)
		snprintf(ret, SYSTEM_COUNTS_LABEL_MAX, "[%s]", name);
	else
		snprintf(ret, SYSTEM_COUNTS_LABEL_MAX, "[error %u]", error);
}
