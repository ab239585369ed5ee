/* SPDX-License-Identifier: Apache-2.0 */
/* A program to be stepped through: numbers, strings, lists, recursion. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 600

struct node {
	struct node *less, *more;
	unsigned key;
	char name[12];
};

static unsigned random_number(void)
{
	static uint32_t x = 2463534242u;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return x;
}

static int by_name(const void *a, const void *b)
{
	const struct node *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static struct node *add(struct node *tree, struct node *n)
{
	if (!tree)
		return n;
	if (n->key < tree->key)
		tree->less = add(tree->less, n);
	else
		tree->more = add(tree->more, n);
	return tree;
}

static uint64_t walk(const struct node *tree, unsigned depth)
{
	if (!tree)
		return depth;
	switch (tree->key % 7) {
	case 0:
		return walk(tree->less, depth + 1) + walk(tree->more, depth + 1);
	case 1:
		return walk(tree->less, depth + 1) ^ walk(tree->more, depth + 1);
	case 2:
		return walk(tree->less, depth + 1) * 3 + walk(tree->more, depth + 1);
	case 3:
		return walk(tree->less, depth + 1) / (1 | walk(tree->more, depth + 1));
	default:
		return walk(tree->less, depth + 1) - walk(tree->more, depth + 1);
	}
}

static unsigned n_primes(unsigned below)
{
	static unsigned char is_composite[4000];
	unsigned n = 0;

	memset(is_composite, 0, sizeof(is_composite));
	for (unsigned i = 2; i < below; i++) {
		if (is_composite[i])
			continue;
		n++;
		for (unsigned k = i * i; k < below; k += i)
			is_composite[k] = 1;
	}
	return n;
}

static void go_round(unsigned round)
{
	static struct node nodes[N], *sorted[N];
	struct node *tree = NULL;
	double mean = 0;

	memset(nodes, 0, sizeof(nodes));
	for (unsigned i = 0; i < N; i++) {
		nodes[i].key = random_number() % 10000;
		snprintf(nodes[i].name, sizeof(nodes[i].name), "%x", nodes[i].key);
		sorted[i] = &nodes[i];
		tree = add(tree, &nodes[i]);
		mean += nodes[i].key > mean ? 1.5 : -0.25;
	}
	qsort(sorted, N, sizeof(sorted[0]), by_name);
	printf("%u %s %u %llu %.1f\n", round, sorted[0]->name, n_primes(3999),
	       (unsigned long long)walk(tree, 0), mean);
}

int main(void)
{
	for (unsigned round = 0; round < 500; round++)
		go_round(round);
	return 0;
}
