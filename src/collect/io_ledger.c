/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/io_ledger.h"

#include "collect/io_calls.h"

void io_ledger_fini(struct io_ledger *l)
{
	vec_fini(&l->sums);
	vec_fini(&l->errors);
	map_fini(&l->sum_of);
	map_fini(&l->error_of);
}

/* Of keys that happen to hash alike the later one steps aside. */
static struct io_sum *sum_of(struct io_ledger *l, const struct io_call *c)
{
	for (uint64_t key = hash_pair((uint64_t)c->stack << 32 | c->file, c->call);;
	     key++) {
		bool is_new;
		uint64_t *i = map_slot(&l->sum_of, key, &is_new);
		struct io_sum *s;

		if (is_new) {
			*i = l->sums.n;
			*vec_push(&l->sums) = (struct io_sum){ .stack = c->stack,
							       .file = c->file,
							       .call = c->call };
		}
		s = &l->sums.at[*i];
		if (s->stack == c->stack && s->file == c->file && s->call == c->call)
			return s;
	}
}

static void add_error(struct io_ledger *l, uint32_t sum, uint32_t error)
{
	bool is_new;
	uint64_t *i = map_slot(&l->error_of, (uint64_t)sum << 32 | error, &is_new);

	if (is_new) {
		*i = l->errors.n;
		*vec_push(&l->errors) = (struct io_sum_error){ sum, error, 0 };
	}
	l->errors.at[*i].n++;
}

static void add_step(uint32_t *steps, unsigned n_steps, uint64_t n)
{
	unsigned step = n ? 64 - (unsigned)__builtin_clzll(n) : 0;

	steps[step < n_steps ? step : n_steps - 1]++;
}

static void note_time(struct io_ledger *l, uint64_t time_ns)
{
	if (!l->first_ns || time_ns < l->first_ns)
		l->first_ns = time_ns;
	if (time_ns > l->last_ns)
		l->last_ns = time_ns;
}

void io_ledger_add_time(struct io_ledger *l, const struct io_call *c)
{
	note_time(l, c->time_ns);
	sum_of(l, c)->ns += c->took_ns;
}

void io_ledger_add(struct io_ledger *l, const struct io_call *c)
{
	struct io_sum *s = sum_of(l, c);

	l->n_calls++;
	note_time(l, c->time_ns);
	s->n++;
	s->ns += c->took_ns;
	s->asked += c->asked;
	add_step(s->times, IO_RECORD_TIMES, c->took_ns >> IO_RECORD_TIME_SHIFT);
	if (c->error) {
		add_error(l, (uint32_t)(s - l->sums.at), c->error);
	} else if (io_calls_event(c->call) != IO_RECORD_OTHER) {
		s->done += c->done;
		add_step(s->sizes, IO_RECORD_SIZES, c->done);
	}
}

void io_ledger_clear(struct io_ledger *l)
{
	l->sums.n = l->errors.n = 0;
	l->first_ns = l->last_ns = 0;
	map_clear(&l->sum_of);
	map_clear(&l->error_of);
}
