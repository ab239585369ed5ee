/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_rows.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "collect/system_inner.h"

#define PAGE_BYTES   ((size_t)STACK_ROWS_PAGE_WORDS * sizeof(uint32_t))
#define POOL_BYTES   (STACK_ROWS_POOL_PAGES * PAGE_BYTES)
#define PAGES_MAX    (STACK_ROWS_POOLS_MAX * STACK_ROWS_POOL_PAGES)
#define COOLING_NS   UINT64_C(1000000000)
#define RULES_BYTES  (STACK_ROWS_RULES_MAX * sizeof(struct stack_rule))
#define IMAGES_BYTES (STACK_ROWS_IMAGES_MAX * sizeof(struct stack_image))

enum page_state { PAGE_ABSENT = 0, PAGE_FREE, PAGE_USED, PAGE_COOLING };

/* A loaded image. */
struct loaded {
	uint32_t image; /* its slot */
	uint32_t first_page, n_pages;
	uint64_t used_ns;
};

struct cooling {
	uint32_t first_page, n_pages;
	uint64_t since_ns;
};

struct pool {
	int fd;
	uint32_t *words;
};

struct system_rows {
	struct stack_rule *rules;
	struct stack_image *images;
	int pools_fd;
	struct pool pools[STACK_ROWS_POOLS_MAX];
	uint32_t n_pools, max_pools;
	uint8_t pages[PAGES_MAX]; /* enum page_state */
	struct row_pack_rules rule_set;
	VEC(struct loaded) loaded;
	VEC(struct cooling) cooling;
	uint64_t now_ns;
};

static void *map_memory(int fd, size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* It is the next; the descriptor is ours then. */
static int map_pool(struct system_rows *r, int fd, struct err *e)
{
	uint32_t *words = map_memory(fd, POOL_BYTES);

	if (!words)
		return err_os(e, "cannot map a BPF map");
	memset(r->pages + (size_t)r->n_pools * STACK_ROWS_POOL_PAGES, PAGE_FREE,
	       STACK_ROWS_POOL_PAGES);
	if (!r->n_pools)
		r->pages[0] = PAGE_USED; /* page 0 of an index says: nothing */
	r->pools[r->n_pools++] = (struct pool){ .fd = fd, .words = words };
	return 0;
}

/* Of the next numbers. */
static int tell_pools(const struct system_rows *r, const int *fds, uint32_t n,
		      struct err *e)
{
	uint32_t places[STACK_ROWS_POOLS_MAX];

	for (uint32_t i = 0; i < n; i++)
		places[i] = r->n_pools + i;
	return system_inner_put(r->pools_fd, places, fds, n, e);
}

static int make_pools(int *fds, uint32_t n, struct err *e)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_MMAPABLE);

	for (uint32_t i = 0; i < n; i++) {
		fds[i] = bpf_map_create(BPF_MAP_TYPE_ARRAY, "rows", sizeof(uint32_t),
					PAGE_BYTES, STACK_ROWS_POOL_PAGES, &o);
		if (fds[i] < 0)
			return err_os(e, "cannot create a BPF map");
	}
	return 0;
}

/* No more than there may be. */
static int add_pools(struct system_rows *r, uint32_t n, struct err *e)
{
	int fds[STACK_ROWS_POOLS_MAX], rc;

	memset(fds, -1, sizeof(fds));
	if (n > r->max_pools - r->n_pools)
		n = r->max_pools - r->n_pools;
	rc = make_pools(fds, n, e);
	if (rc == 0)
		rc = tell_pools(r, fds, n, e);
	for (uint32_t i = 0; i < n; i++) {
		if (rc == 0)
			rc = map_pool(r, fds[i], e);
		if (rc == 0)
			fds[i] = -1;
		closep(&fds[i]);
	}
	return rc;
}

static uint32_t pools_of(size_t bytes)
{
	size_t n = (bytes + POOL_BYTES - 1) / POOL_BYTES;

	return (uint32_t)(n < STACK_ROWS_POOLS_MAX ? n : STACK_ROWS_POOLS_MAX);
}

/* Without a pool. */
static int open_rows(const struct system_rows_maps *maps, size_t limit_bytes,
		     struct system_rows **ret, struct err *e)
{
	own(system_rows_freep) struct system_rows *r = xcalloc(1, sizeof(*r));

	r->pools_fd = maps->pools;
	r->max_pools = pools_of(limit_bytes);
	r->rules = map_memory(maps->rules, RULES_BYTES);
	r->images = map_memory(maps->images, IMAGES_BYTES);
	if (!r->rules || !r->images)
		return err_os(e, "cannot map a BPF map");
	*ret = steal(&r);
	return 0;
}

int system_rows_new(const struct system_rows_maps *maps, size_t limit_bytes,
		    size_t first_bytes, struct system_rows **ret, struct err *e)
{
	own(system_rows_freep) struct system_rows *r = NULL;
	int rc = open_rows(maps, limit_bytes, &r, e);

	if (rc < 0)
		return rc;
	row_pack_rules_init(&r->rule_set, r->rules);
	/* Whether the kernel takes it is to be known at the start. */
	rc = add_pools(r, first_bytes ? pools_of(first_bytes) : 1, e);
	if (rc < 0)
		return rc;
	*ret = steal(&r);
	return 0;
}

void system_rows_free(struct system_rows *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->n_pools; i++) {
		munmap(r->pools[i].words, POOL_BYTES);
		closep(&r->pools[i].fd);
	}
	if (r->rules)
		munmap(r->rules, RULES_BYTES);
	if (r->images)
		munmap(r->images, IMAGES_BYTES);
	if (r->rule_set.seen)
		row_pack_rules_fini(&r->rule_set);
	vec_fini(&r->loaded);
	vec_fini(&r->cooling);
	free(r);
}

void system_rows_freep(struct system_rows **r)
{
	system_rows_free(*r);
}

/* The first of n free pages behind each other, or 0. */
static uint32_t find_pages(const struct system_rows *r, uint32_t n)
{
	uint32_t end = r->n_pools * STACK_ROWS_POOL_PAGES, run = 0;

	for (uint32_t i = 0; i < end; i++) {
		run = r->pages[i] == PAGE_FREE ? run + 1 : 0;
		if (run == n)
			return i + 1 - n;
	}
	return 0;
}

static void mark(struct system_rows *r, uint32_t first, uint32_t n, enum page_state s)
{
	memset(r->pages + first, s, n);
}

static size_t longest_unused(const struct system_rows *r)
{
	size_t at = 0;

	for (size_t i = 1; i < r->loaded.n; i++)
		if (r->loaded.at[i].used_ns < r->loaded.at[at].used_ns)
			at = i;
	return at;
}

static void unload(struct system_rows *r, size_t i)
{
	struct loaded *l = &r->loaded.at[i];

	__atomic_store_n(&r->images[l->image].state, STACK_IMAGE_NEW, __ATOMIC_SEQ_CST);
	mark(r, l->first_page, l->n_pages, PAGE_COOLING);
	*vec_push(&r->cooling) = (struct cooling){ .first_page = l->first_page,
						   .n_pages = l->n_pages,
						   .since_ns = r->now_ns };
	*l = r->loaded.at[--r->loaded.n];
}

static void unload_image(struct system_rows *r, uint32_t slot)
{
	for (size_t i = r->loaded.n; i-- > 0;)
		if (r->loaded.at[i].image == slot)
			unload(r, i);
}

/* Room for n pages: what is free, more memory, or another time. */
static int take_pages(struct system_rows *r, uint32_t n, uint32_t *ret, struct err *e)
{
	uint32_t first, unloaded = 0;

	while (!(first = find_pages(r, n)) && r->n_pools < r->max_pools &&
	       add_pools(r, pools_of(n * PAGE_BYTES), NULL) == 0)
		;
	if (first) {
		mark(r, first, n, PAGE_USED);
		*ret = first;
		return 0;
	}
	while (r->loaded.n && unloaded < n) {
		size_t i = longest_unused(r);

		unloaded += r->loaded.at[i].n_pages;
		unload(r, i);
	}
	return err_set(e, ERR_LIMIT, "the unwind rows of the images in use need more");
}

/* What is there already. */

static int take_pool(struct system_rows *r, uint32_t id, struct err *e)
{
	own(closep) int fd = bpf_map_get_fd_by_id(id);
	struct bpf_map_info info = { 0 };
	uint32_t info_size = sizeof(info);
	int rc;

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &info_size) < 0)
		return err_os(e, "cannot find a BPF map");
	if (info.value_size != PAGE_BYTES || info.max_entries != STACK_ROWS_POOL_PAGES)
		return err_set(e, ERR_FORMAT, "a BPF map is of another size");
	rc = map_pool(r, fd, e);
	if (rc == 0)
		steal_fd(&fd);
	return rc;
}

static bool are_free(const struct system_rows *r, uint32_t first, uint32_t n)
{
	if (!n || first + n > r->n_pools * STACK_ROWS_POOL_PAGES)
		return false;
	for (uint32_t i = first; i < first + n; i++)
		if (r->pages[i] != PAGE_FREE)
			return false;
	return true;
}

/* What was asked for and is not there is asked for again. */
static void take_image(struct system_rows *r, uint32_t slot)
{
	struct stack_image *i = &r->images[slot];

	if (i->state == STACK_IMAGE_READY && are_free(r, i->index_page, i->n_pages)) {
		mark(r, i->index_page, i->n_pages, PAGE_USED);
		*vec_push(&r->loaded) = (struct loaded){ .image = slot,
							 .first_page = i->index_page,
							 .n_pages = i->n_pages };
	} else if (i->state != STACK_IMAGE_NO_ROWS) {
		__atomic_store_n(&i->state, STACK_IMAGE_NEW, __ATOMIC_SEQ_CST);
	}
}

int system_rows_take(const struct system_rows_maps *maps, size_t limit_bytes,
		     struct system_rows **ret, struct err *e)
{
	own(system_rows_freep) struct system_rows *r = NULL;
	int rc = open_rows(maps, limit_bytes, &r, e);
	uint32_t id;

	if (rc < 0)
		return rc;
	row_pack_rules_take(&r->rule_set, r->rules);
	while (rc == 0 && r->n_pools < r->max_pools &&
	       bpf_map_lookup_elem(r->pools_fd, &r->n_pools, &id) == 0)
		rc = take_pool(r, id, e);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < STACK_ROWS_IMAGES_MAX; i++)
		take_image(r, i);
	*ret = steal(&r);
	return 0;
}

bool system_rows_is_current(const struct system_rows *r, uint32_t image)
{
	return r->images[STACK_ROWS_SLOT(image)].generation ==
	       STACK_ROWS_GENERATION(image);
}

static uint32_t *page_at(void *ctx, uint32_t page)
{
	const struct system_rows *r = ctx;

	return r->pools[page / STACK_ROWS_POOL_PAGES].words +
	       page % STACK_ROWS_POOL_PAGES * STACK_ROWS_PAGE_WORDS;
}

static void write_pages(struct system_rows *r, uint32_t first, const struct row_pack *p)
{
	own(freep) uint32_t *numbers = xcalloc(p->rules.n + 1, sizeof(*numbers));
	struct row_pack_place to = {
		.first_page = first, .numbers = numbers, .page = page_at, .ctx = r
	};

	for (size_t i = 0; i < p->rules.n; i++)
		numbers[i] = row_pack_rules_number(&r->rule_set, &p->rules.at[i]);
	row_pack_write(p, &to);
}

static void publish(struct system_rows *r, uint32_t image, enum stack_image_state state)
{
	__atomic_store_n(&r->images[STACK_ROWS_SLOT(image)].state, state,
			 __ATOMIC_RELEASE);
}

void system_rows_set_none(struct system_rows *r, uint32_t image)
{
	publish(r, image, STACK_IMAGE_NO_ROWS);
}

void system_rows_ask_again(struct system_rows *r, uint32_t image)
{
	publish(r, image, STACK_IMAGE_NEW);
}

void system_rows_set_data_end(struct system_rows *r, uint32_t image, uint64_t offset)
{
	if (system_rows_is_current(r, image))
		__atomic_store_n(&r->images[STACK_ROWS_SLOT(image)].data_end, offset,
				 __ATOMIC_RELAXED);
}

int system_rows_load(struct system_rows *r, uint32_t image, const struct row_pack *p,
		     struct err *e)
{
	struct stack_image *to = &r->images[STACK_ROWS_SLOT(image)];
	uint32_t n = row_pack_n_pages(p), first = 0;
	int rc;

	/* Page 0 is nobody's. */
	if (!p->n_blocks || n >= r->max_pools * STACK_ROWS_POOL_PAGES) {
		system_rows_set_none(r, image);
		return 0;
	}
	unload_image(r, STACK_ROWS_SLOT(image)); /* asked for twice */
	rc = take_pages(r, n, &first, e);
	if (rc < 0) {
		publish(r, image, STACK_IMAGE_NEW);
		return rc;
	}
	write_pages(r, first, p);
	to->index_page = first;
	to->first_block = p->first_block;
	to->n_blocks = p->n_blocks;
	to->n_pages = (uint16_t)n;
	publish(r, image, STACK_IMAGE_READY);
	*vec_push(&r->loaded) = (struct loaded){ .image = STACK_ROWS_SLOT(image),
						 .first_page = first,
						 .n_pages = n,
						 .used_ns = r->now_ns };
	return 0;
}

static void reclaim(struct system_rows *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->cooling.n; i++) {
		struct cooling *c = &r->cooling.at[i];

		if (r->now_ns - c->since_ns < COOLING_NS)
			r->cooling.at[kept++] = *c;
		else
			mark(r, c->first_page, c->n_pages, PAGE_FREE);
	}
	r->cooling.n = kept;
}

void system_rows_forget(struct system_rows *r, uint32_t image)
{
	unload_image(r, STACK_ROWS_SLOT(image));
	r->images[STACK_ROWS_SLOT(image)].data_end = 0;
	publish(r, image, STACK_IMAGE_NEW);
}

void system_rows_tick(struct system_rows *r, uint64_t now_ns)
{
	r->now_ns = now_ns;
	for (size_t i = 0; i < r->loaded.n; i++) {
		struct loaded *l = &r->loaded.at[i];

		if (__atomic_fetch_and(&r->images[l->image].is_used, ~STACK_IMAGE_IS_USED,
				       __ATOMIC_RELAXED) &
		    STACK_IMAGE_IS_USED)
			l->used_ns = now_ns;
	}
	reclaim(r);
}

size_t system_rows_bytes(const struct system_rows *r)
{
	return r->n_pools * POOL_BYTES + RULES_BYTES + IMAGES_BYTES;
}

size_t system_rows_n_loaded(const struct system_rows *r)
{
	return r->loaded.n;
}
