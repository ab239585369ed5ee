/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_apart.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "base/path_choice.h"
#include "wire/stack_rows.h"

#define BYTES (STACK_ROWS_IMAGES_MAX * sizeof(uint64_t))

struct system_apart {
	const struct path_choice *chosen;
	uint64_t *verdicts;
};

uint32_t system_apart_n_entries(const struct path_choice *chosen)
{
	return chosen ? STACK_ROWS_IMAGES_MAX : 1;
}

int system_apart_new(int map, const struct path_choice *chosen, struct system_apart **ret,
		     struct err *e)
{
	own(system_apart_freep) struct system_apart *a = xcalloc(1, sizeof(*a));
	void *at;

	*ret = NULL;
	if (!chosen)
		return 0;
	a->chosen = chosen;
	at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	if (at == MAP_FAILED)
		return err_os(e, "cannot map a BPF map");
	a->verdicts = at;
	*ret = steal(&a);
	return 0;
}

void system_apart_free(struct system_apart *a)
{
	if (!a)
		return;
	if (a->verdicts)
		munmap(a->verdicts, BYTES);
	free(a);
}

void system_apart_freep(struct system_apart **a)
{
	system_apart_free(*a);
}

void system_apart_decide(struct system_apart *a, uint32_t image, const char *path)
{
	if (!a || !path)
		return;
	__atomic_store_n(&a->verdicts[STACK_ROWS_SLOT(image)],
			 STACK_ROWS_VERDICT(image, path_choice_has(a->chosen, path)),
			 __ATOMIC_RELAXED);
}
