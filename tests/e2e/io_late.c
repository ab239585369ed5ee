/* SPDX-License-Identifier: Apache-2.0
 *
 * Sleeps for so many milliseconds once all is mapped, and then does its first I/O.
 */
#include <stdlib.h>
#include <time.h>

int io_late_writes(int n);

int main(int argc, char **argv)
{
	long ms = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
	return io_late_writes(10) != 0;
}
