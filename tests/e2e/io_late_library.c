/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes so many single bytes to nowhere, from a library's code.
 */
#include <fcntl.h>
#include <unistd.h>

int io_late_writes(int n);

int io_late_writes(int n)
{
	int fd = open("/dev/null", O_WRONLY), n_failed = fd < 0;

	for (int i = 0; i < n; i++)
		n_failed += write(fd, "x", 1) != 1;
	close(fd);
	return n_failed;
}
