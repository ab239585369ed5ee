/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/steady_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

#define WORD_BYTES 8u
#define PAGE_BYTES 4096u
#define N_WORDS	   (PAGE_BYTES / WORD_BYTES) /* of a page */
#define N_PAGES	   4096u

#define MAX_LOOKS 16
#define STEADY_NS 20000000u /* what is the same for so long is believed */
#define AGAIN_NS  1000000u  /* between looks at what is not believed yet */
#define FRESH_NS  10000000u /* and at what is */
#define MAX_WAITS 3	    /* four times as long each: after so many changes */

/* Looked at as a whole, so that what is met for the first time has been seen before; but
 * counters stand beside what never changes, so that each word is believed by itself. */
struct page {
	uint64_t addr; /* 0: none */
	uint64_t looked_ns;
	uint32_t process;
	uint32_t since[N_WORDS]; /* the same from then on, by ticks() */
	uint8_t n_changes[N_WORDS];
	uint64_t words[N_WORDS];
};

struct steady_memory {
	steady_memory_look_fn *look;
	uint64_t then_ns, now_ns;
	unsigned n_looks;	     /* that are left */
	struct page *pages[N_PAGES]; /* NULL: none yet */
};

struct steady_memory *steady_memory_new(steady_memory_look_fn *look)
{
	struct steady_memory *m = xcalloc(1, sizeof(*m));

	m->look = look;
	return m;
}

void steady_memory_free(struct steady_memory *m)
{
	if (!m)
		return;
	for (unsigned i = 0; i < N_PAGES; i++)
		free(m->pages[i]);
	free(m);
}

void steady_memory_freep(struct steady_memory **m)
{
	steady_memory_free(*m);
}

void steady_memory_begin(struct steady_memory *m, uint64_t then_ns, uint64_t now_ns)
{
	m->then_ns = then_ns;
	m->now_ns = now_ns;
	m->n_looks = MAX_LOOKS;
}

static bool look(struct steady_memory *m, uint64_t addr, pid_t pid, uint64_t *to)
{
	if (!m->n_looks)
		return false;
	m->n_looks--;
	return m->look(pid, addr, to, PAGE_BYTES) == PAGE_BYTES;
}

/* Of 66 us each; they go round after three days, when all is young once more. */
static uint32_t ticks(uint64_t ns)
{
	return (uint32_t)(ns >> 16);
}

/* No earlier than now. */
static uint32_t from_now(const struct steady_memory *m)
{
	return ticks(m->now_ns) + 1;
}

/* The first time. */
static void meet(struct steady_memory *m, struct page *p, uint32_t process, pid_t pid,
		 uint64_t addr)
{
	p->addr = look(m, addr, pid, p->words) ? addr : 0;
	p->process = process;
	p->looked_ns = m->now_ns;
	memset(p->n_changes, 0, sizeof(p->n_changes));
	for (unsigned i = 0; i < N_WORDS; i++)
		p->since[i] = from_now(m);
}

/* Has it been the same for long, and before the sample? */
static bool is_believed(const struct steady_memory *m, const struct page *p, unsigned i)
{
	uint32_t wait = ticks(STEADY_NS) << 2 * p->n_changes[i];

	return (int32_t)(ticks(m->now_ns) - p->since[i]) >= (int32_t)wait &&
	       (int32_t)(ticks(m->then_ns) - p->since[i]) >= 0;
}

static void compare(struct steady_memory *m, struct page *p, const uint64_t *now)
{
	for (unsigned i = 0; i < N_WORDS; i++) {
		if (now[i] == p->words[i])
			continue;
		p->words[i] = now[i];
		p->since[i] = from_now(m);
		p->n_changes[i] += p->n_changes[i] < MAX_WAITS;
	}
}

/* For the sake of a word; false: what is there now is not known. */
static bool look_again(struct steady_memory *m, struct page *p, unsigned word, pid_t pid)
{
	uint64_t now[N_WORDS];

	if (m->now_ns - p->looked_ns < (is_believed(m, p, word) ? FRESH_NS : AGAIN_NS))
		return true;
	if (!look(m, p->addr, pid, now))
		return false;
	p->looked_ns = m->now_ns;
	compare(m, p, now);
	return true;
}

static struct page *page_of(struct steady_memory *m, uint32_t process, uint64_t addr)
{
	struct page **p = &m->pages[hash_pair(process, addr) % N_PAGES];

	if (!*p)
		*p = xcalloc(1, sizeof(**p));
	return *p;
}

/* NULL: not steady. */
static const uint64_t *word_of(struct steady_memory *m, uint32_t process, pid_t pid,
			       uint64_t addr)
{
	unsigned word = addr % PAGE_BYTES / WORD_BYTES;
	uint64_t start = addr - addr % PAGE_BYTES;
	struct page *p = page_of(m, process, start);

	if (p->addr != start || p->process != process) {
		meet(m, p, process, pid, start);
		return NULL;
	}
	if (!look_again(m, p, word, pid) || !is_believed(m, p, word))
		return NULL;
	return &p->words[word];
}

bool steady_memory_read(struct steady_memory *m, uint32_t process, pid_t pid,
			uint64_t addr, void *to, unsigned bytes)
{
	uint8_t *out = to;

	while (bytes) {
		unsigned at = addr % WORD_BYTES;
		unsigned n = bytes < WORD_BYTES - at ? bytes : WORD_BYTES - at;
		const uint64_t *word = word_of(m, process, pid, addr);

		if (!word)
			return false;
		memcpy(out, (const uint8_t *)word + at, n);
		out += n;
		addr += n;
		bytes -= n;
	}
	return true;
}
