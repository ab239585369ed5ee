/* SPDX-License-Identifier: Apache-2.0
 * Makes code for ever: each piece is other code than those before, with some hundreds of
 * blocks, is executed once, and is gone.  Another thread calculates meanwhile.
 *	usage: blocks_forever PIECES */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PIECE_BYTES  4096
#define PIECE_BLOCKS 500

static volatile bool is_over;

static void *calculate(void *arg)
{
	uint64_t *sum = arg;

	while (!is_over)
		*sum = *sum * 6364136223846793005ULL + 1;
	return NULL;
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return at + n;
}

/* eax = 0; then for each block: eax += number, and a branch to what follows. */
static uint32_t execute_piece(uint32_t piece)
{
	uint8_t *code = mmap(NULL, PIECE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *at = put(code, "\x31\xc0", 2);
	uint32_t result;

	for (uint32_t i = 0; i < PIECE_BLOCKS; i++) {
		uint32_t number = piece * PIECE_BLOCKS + i;

		at = put(put(put(at, "\x05", 1), &number, 4), "\x75\x00", 2);
	}
	put(at, "\xc3", 1);
	result = ((uint32_t(*)(void))code)();
	munmap(code, PIECE_BYTES);
	return result;
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)atoi(argv[1]) : 1, sum = 0;
	pthread_t other;
	uint64_t ignored;

	pthread_create(&other, NULL, calculate, &ignored);
	for (uint32_t i = 0; i < n; i++)
		sum += execute_piece(i);
	is_over = true;
	pthread_join(other, NULL);
	printf("%u\n", sum);
	return 0;
}
