/* SPDX-License-Identifier: Apache-2.0
 *
 * The held-out kernels: small loops as programs have them, which say how well a model
 * does that was made to fit the others.  A turn is a pass over data that fits the first
 * cache, and whose branches can be foreseen.  The compiler is kept from making another
 * loop of them, where it would (keep), and told to begin loops at a line of the cache
 * (meson.build), as what else is added decides about that.
 */
#include <stdint.h>

#define KERNEL(kind, name, ops, needs, body) void kernel_##name(uint64_t n, void *memory);
#include "model_kernels.def"
#undef KERNEL

void model_loops_prepare(void);

enum {
	N_BYTES = 1024,
	N_WORDS = 512,
	APART = 24, /* words: a page apart, one would be taken for the other at first */
};

static uint64_t words[N_WORDS + APART], copied_words[N_WORDS + APART],
	summed_words[N_WORDS + APART];
static double numbers[N_WORDS + APART], other_numbers[N_WORDS + APART],
	summed_numbers[N_WORDS + APART];
static uint8_t bytes[N_BYTES];
static uint32_t table[256];

/* Where results go, for the compiler to leave what makes them. */
static volatile uint64_t result;
static volatile double result_number;

/* The compiler knows nothing of the value any more. */
#define keep(value) __asm__("" : "+r"(value))

void kernel_crc_table(uint64_t n, void *memory)
{
	uint32_t crc = 0;

	(void)memory;
	for (; n; n--)
		for (unsigned i = 0; i < N_BYTES; i++)
			crc = table[(crc ^ bytes[i]) & 255] ^ crc >> 8;
	result = crc;
}

void kernel_string_length(uint64_t n, void *memory)
{
	uint64_t sum = 0;

	(void)memory;
	for (; n; n--) {
		const uint8_t *p = bytes;

		while (*p) {
			p++;
			keep(p);
		}
		sum += (uint64_t)(p - bytes);
	}
	result = sum;
}

void kernel_dot_product(uint64_t n, void *memory)
{
	double sum = 0;

	(void)memory;
	for (; n; n--)
		for (unsigned i = 0; i < N_WORDS; i++)
			sum += numbers[i] * other_numbers[i];
	result_number = sum;
}

/* What a product of matrices does most: a row more of one, times a number of the other */
void kernel_matrix_row(uint64_t n, void *memory)
{
	double factor = 1e-9;

	(void)memory;
	for (; n; n--)
		for (unsigned i = 0; i < N_WORDS; i++)
			summed_numbers[i] += factor * numbers[i];
	result_number = summed_numbers[0];
}

void kernel_fnv_hash(uint64_t n, void *memory)
{
	uint64_t hash = 14695981039346656037u;

	(void)memory;
	for (; n; n--)
		for (unsigned i = 0; i < N_BYTES; i++)
			hash = (hash ^ bytes[i]) * 1099511628211u;
	result = hash;
}

static uint64_t rotate(uint64_t value, unsigned n)
{
	return value << n | value >> (64 - n);
}

void kernel_murmur_mix(uint64_t n, void *memory)
{
	uint64_t hash = 1;

	(void)memory;
	for (; n; n--) {
		for (unsigned i = 0; i < N_WORDS; i++) {
			uint64_t k = words[i] * 0x87c37b91114253d5u;

			k = rotate(k, 31) * 0x4cf5ad432745937fu;
			hash = rotate(hash ^ k, 27) * 5 + 0x52dce729;
		}
	}
	result = hash;
}

void kernel_shift_register(uint64_t n, void *memory)
{
	uint64_t state = 1;

	(void)memory;
	for (n *= N_BYTES; n; n--)
		state = state >> 1 ^ (-(state & 1) & 0xd800000000000000u);
	result = state;
}

/* All is sorted already. */
void kernel_bubble_pass(uint64_t n, void *memory)
{
	(void)memory;
	for (; n; n--) {
		for (unsigned i = 0; i + 1 < N_WORDS; i++) {
			uint64_t a = words[i], b = words[i + 1];

			if (a > b) {
				words[i] = b;
				words[i + 1] = a;
			}
		}
	}
	result = words[0];
}

void kernel_copy_words(uint64_t n, void *memory)
{
	(void)memory;
	for (; n; n--) {
		for (uint64_t i = 0; i < N_WORDS; i++) {
			copied_words[i] = words[i];
			keep(i);
		}
	}
	result = copied_words[0];
}

enum {
	DEPTH = 6,
	N_NODES = (1 << DEPTH) - 1,
};

/* Node i has its smaller keys below 2 i + 1, the larger ones below 2 i + 2. */
static struct node {
	struct node *below[2];
	uint64_t key;
} nodes[N_NODES];

/* Four keys by turns, none of which is there: the way is known, but all of it is gone. */
void kernel_tree_walk(uint64_t n, void *memory)
{
	static const uint64_t keys[] = { 5, 40, 23, 61 };
	uint64_t sum = 0;

	(void)memory;
	for (; n; n--) {
		const struct node *node = nodes;
		uint64_t key = keys[n % 4];

		while (node) {
			sum += node->key;
			node = node->below[node->key <= key];
		}
	}
	result = sum;
}

/* A loop of eight instructions that are dispatched by a switch, always the same */
void kernel_interpreter(uint64_t n, void *memory)
{
	static const uint8_t code[] = { 0, 1, 2, 3, 4, 1, 2, 5 };
	uint64_t stack[4] = { 1, 2, 3, 4 };
	unsigned at = 0;

	(void)memory;
	while (n) {
		switch (code[at++]) {
		case 0:
			stack[0] = stack[1];
			break;
		case 1:
			stack[0] += stack[2];
			break;
		case 2:
			stack[1] ^= stack[0];
			break;
		case 3:
			stack[2] = stack[0] >> 3;
			break;
		case 4:
			stack[3] -= stack[1];
			break;
		default:
			at = 0;
			n--;
		}
	}
	result = stack[0] + stack[3];
}

void kernel_decimal_digits(uint64_t n, void *memory)
{
	char text[16];

	(void)memory;
	for (; n; n--) {
		uint64_t value = 1234567890123456 + (n & 1);

		for (unsigned i = 16; i > 0; i--) {
			text[i - 1] = (char)('0' + value % 10);
			value /= 10;
		}
		__asm__ volatile("" : : "r"(text) : "memory");
	}
	result = (uint64_t)text[0];
}

void kernel_histogram(uint64_t n, void *memory)
{
	static uint32_t counts[256];

	(void)memory;
	for (; n; n--)
		for (unsigned i = 0; i < N_BYTES; i++)
			counts[bytes[i]]++;
	result = counts[1];
}

void kernel_prefix_sum(uint64_t n, void *memory)
{
	(void)memory;
	for (; n; n--)
		for (unsigned i = 1; i < N_WORDS; i++)
			summed_words[i] += summed_words[i - 1];
	result = summed_words[N_WORDS - 1];
}

enum {
	N_ITEMS = 64,
};

static struct item {
	struct item *next;
	uint64_t value;
} items[N_ITEMS];

void kernel_list_sum(uint64_t n, void *memory)
{
	uint64_t sum = 0;

	(void)memory;
	for (; n; n--)
		for (const struct item *item = items; item; item = item->next)
			sum += item->value;
	result = sum;
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* Bytes are none zero but for the last one. */
static void fill(void)
{
	uint64_t state = 1;

	for (unsigned i = 0; i < N_BYTES; i++)
		bytes[i] = i + 1 < N_BYTES ? (uint8_t)(1 + next_random(&state) % 255) : 0;
	for (unsigned i = 0; i < 256; i++)
		table[i] = (uint32_t)next_random(&state);
	for (unsigned i = 0; i < N_WORDS; i++) {
		words[i] = i * 3; /* sorted */
		summed_words[i] = i;
		numbers[i] = 1 + i / 1000.0;
		other_numbers[i] = 1 - i / 1000.0;
	}
}

static void grow(void)
{
	for (unsigned level = 0; level < DEPTH; level++) {
		for (unsigned k = 0; k < 1u << level; k++) {
			unsigned i = (1u << level) - 1 + k;

			nodes[i].key = (2 * k + 1) << (DEPTH - 1 - level);
			for (unsigned side = 0; side < 2; side++)
				nodes[i].below[side] =
					level + 1 < DEPTH ? &nodes[2 * i + 1 + side] : 0;
		}
	}
}

void model_loops_prepare(void)
{
	fill();
	grow();
	for (unsigned i = 0; i < N_ITEMS; i++)
		items[i] = (struct item){ i + 1 < N_ITEMS ? &items[i + 1] : 0, i };
}
