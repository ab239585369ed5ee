/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/call_filters.h"

#include <stdbool.h>
#include <string.h>

#include "bare/sys.h"

/* Those of the mode and of the number come late in it. */
#define STATUS_BYTES 4096

/* The number behind a name at the beginning of a line. */
static bool find(const char *text, size_t n, const char *name, uint32_t *ret)
{
	size_t n_name = strlen(name), at = 0;

	while (at + n_name < n && memcmp(text + at, name, n_name) != 0) {
		while (at < n && text[at] != '\n')
			at++;
		at++;
	}
	if (at + n_name >= n)
		return false;
	*ret = 0;
	for (at += n_name; at < n && (text[at] == '\t' || text[at] == ' ');)
		at++;
	for (; at < n && text[at] >= '0' && text[at] <= '9'; at++)
		*ret = *ret * 10 + (uint32_t)(text[at] - '0');
	return true;
}

uint32_t call_filters_count(const char *status, size_t n)
{
	uint32_t count = 0;

	if (find(status, n, "Seccomp_filters:", &count))
		return count;
	return find(status, n, "Seccomp:", &count) ? count != 0 : UINT32_MAX;
}

uint32_t call_filters_own(void)
{
	int fd = sys_open("/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
	char text[STATUS_BYTES];
	size_t n = 0;
	long got = 1;

	if (fd < 0)
		return UINT32_MAX;
	while (got > 0 && n < sizeof(text)) {
		got = sys_read(fd, text + n, sizeof(text) - n);
		n += got > 0 ? (size_t)got : 0;
	}
	sys_close(fd);
	return got < 0 ? UINT32_MAX : call_filters_count(text, n);
}
