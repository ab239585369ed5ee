/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/steady_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

#define LINE_BYTES 64u
#define N_LINES	   16384u

#define MAX_LOOKS 16
#define STEADY_NS 20000000u /* what is the same for so long is believed */
#define MAX_STEADY_NS                                                                    \
	1280000000u	   /* or so long: each change makes it four times as long */
#define AGAIN_NS 1000000u  /* between looks at what is not believed yet */
#define FRESH_NS 10000000u /* and at what is */

struct line {
	uint64_t addr; /* 0: none */
	uint32_t process;
	uint32_t wait_ns;
	uint64_t since_ns, looked_ns; /* the same from then on; looked at last */
	uint8_t bytes[LINE_BYTES];
};

struct steady_memory {
	steady_memory_look_fn *look;
	uint64_t then_ns, now_ns;
	unsigned n_looks; /* that are left */
	struct line lines[N_LINES];
};

struct steady_memory *steady_memory_new(steady_memory_look_fn *look)
{
	struct steady_memory *m = xcalloc(1, sizeof(*m));

	m->look = look;
	return m;
}

void steady_memory_free(struct steady_memory *m)
{
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

static bool look(struct steady_memory *m, const struct line *l, pid_t pid, uint8_t *to)
{
	if (!m->n_looks)
		return false;
	m->n_looks--;
	return m->look(pid, l->addr, to, LINE_BYTES) == LINE_BYTES;
}

/* The first time. */
static void meet(struct steady_memory *m, struct line *l, uint32_t process, pid_t pid,
		 uint64_t addr)
{
	*l = (struct line){ .addr = addr,
			    .process = process,
			    .wait_ns = STEADY_NS,
			    .since_ns = m->now_ns,
			    .looked_ns = m->now_ns };
	if (!look(m, l, pid, l->bytes))
		l->addr = 0;
}

static bool is_believed(const struct steady_memory *m, const struct line *l)
{
	return m->now_ns - l->since_ns >= l->wait_ns;
}

/* false: what is there now is not known. */
static bool look_again(struct steady_memory *m, struct line *l, pid_t pid)
{
	uint8_t now[LINE_BYTES];

	if (m->now_ns - l->looked_ns < (is_believed(m, l) ? FRESH_NS : AGAIN_NS))
		return true;
	if (!look(m, l, pid, now))
		return false;
	l->looked_ns = m->now_ns;
	if (memcmp(now, l->bytes, sizeof(now)) == 0)
		return true;
	memcpy(l->bytes, now, sizeof(now));
	l->since_ns = m->now_ns;
	l->wait_ns = l->wait_ns < MAX_STEADY_NS ? 4 * l->wait_ns : MAX_STEADY_NS;
	return true;
}

/* NULL: not steady. */
static const struct line *line_of(struct steady_memory *m, uint32_t process, pid_t pid,
				  uint64_t addr)
{
	struct line *l = &m->lines[hash_pair(process, addr) % N_LINES];

	if (l->addr != addr || l->process != process) {
		meet(m, l, process, pid, addr);
		return NULL;
	}
	if (!look_again(m, l, pid) || !is_believed(m, l) || l->since_ns > m->then_ns)
		return NULL;
	return l;
}

bool steady_memory_read(struct steady_memory *m, uint32_t process, pid_t pid,
			uint64_t addr, void *to, unsigned bytes)
{
	uint8_t *out = to;

	while (bytes) {
		unsigned at = addr % LINE_BYTES;
		unsigned n = bytes < LINE_BYTES - at ? bytes : LINE_BYTES - at;
		const struct line *l = line_of(m, process, pid, addr - at);

		if (!l)
			return false;
		memcpy(out, l->bytes + at, n);
		out += n;
		addr += n;
		bytes -= n;
	}
	return true;
}
