/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File calls with known counts: N writes of 64..575 bytes and N preads of 512 on a file
 * in memory; N / 4 times open, fstat, read of 100 and close; N / 10 times fwrite and
 * fflush of 33 bytes; with a second word also N / 1000 writes of 512 bytes with fsync
 * on a disk.
 *
 *	usage: io [N [fsync]]	(400,000)
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workload.h"

static char buffer[1024];
static unsigned long bytes_written, bytes_read, ops;

NOINLINE static void do_writes(int fd, long n)
{
	for (long i = 0; i < n; i++) {
		ssize_t done = write(fd, buffer, 64 + (size_t)(i & 511));

		if (done > 0) {
			bytes_written += (unsigned long)done;
			ops++;
		}
	}
}

NOINLINE static void do_reads(int fd, long n, long size)
{
	for (long i = 0; i < n; i++) {
		ssize_t done = pread(fd, buffer, 512, i * 7919 % (size - 512));

		if (done > 0) {
			bytes_read += (unsigned long)done;
			ops++;
		}
	}
}

NOINLINE static void do_opens(const char *path, long n)
{
	for (long i = 0; i < n; i++) {
		struct stat st;
		int fd = open(path, O_RDONLY);

		fstat(fd, &st);

		ssize_t done = read(fd, buffer, 100);

		if (done > 0)
			bytes_read += (unsigned long)done;
		close(fd);
		ops += 3;
	}
}

NOINLINE static void do_stdio(const char *path, long n)
{
	FILE *f = fopen(path, "w");

	if (!f)
		exit(1);
	for (long i = 0; i < n; i++) {
		fwrite(buffer, 1, 33, f);
		fflush(f);
		bytes_written += 33;
		ops++;
	}
	fclose(f);
}

NOINLINE static void do_fsync(const char *path, long n)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	for (long i = 0; i < n; i++) {
		if (write(fd, buffer, 512) > 0)
			bytes_written += 512;
		fsync(fd);
		ops += 2;
	}
	close(fd);
	unlink(path);
}

int main(int argc, char **argv)
{
	long n = workload_arg(argc, argv, 1, 400000);
	char in_memory[64], on_disk[64];

	snprintf(in_memory, sizeof(in_memory), "/dev/shm/io-workload.%d", getpid());
	snprintf(on_disk, sizeof(on_disk), "/tmp/io-workload.%d", getpid());

	int fd = open(in_memory, O_RDWR | O_CREAT | O_TRUNC, 0600);

	do_writes(fd, n);
	do_reads(fd, n, lseek(fd, 0, SEEK_END));
	do_opens(in_memory, n / 4);
	close(fd);
	do_stdio(in_memory, n / 10);
	unlink(in_memory);
	if (argc > 2)
		do_fsync(on_disk, n / 1000);
	printf("ops %lu wr %lu rd %lu\n", ops, bytes_written, bytes_read);
	return 0;
}
