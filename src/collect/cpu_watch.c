/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/cpu_watch.h"

#include "host/cpus.h"

void cpu_watch_fini(struct cpu_watch *w)
{
	vec_fini(&w->open);
}

static void add(struct cpu_watch *w, uint32_t id, uint64_t life)
{
	*vec_push(&w->open) = (struct cpu_watch_one){ .id = id, .life = life };
}

int cpu_watch_begin(struct cpu_watch *w, struct err *e)
{
	struct cpus online = { 0 };
	int rc = cpus_online(&online, e);

	vec_clear(&w->open);
	for (size_t i = 0; rc == 0 && i < online.ids.n; i++)
		add(w, online.ids.at[i], cpus_life(online.ids.at[i]));
	cpus_fini(&online);
	return rc;
}

static const struct cpu_watch_one *find(const struct cpu_watch *w, uint32_t id)
{
	vec_each(x, &w->open)
		if (x->id == id)
			return x;
	return NULL;
}

/* Those that are offline now, or were since. */
static void close_gone(struct cpu_watch *w, const struct cpus *online,
		       const struct cpu_watch_user *user)
{
	size_t n = 0;

	for (size_t i = 0; i < w->open.n; i++) {
		struct cpu_watch_one x = w->open.at[i];

		if (cpus_has(online, x.id) && cpus_life(x.id) == x.life) {
			w->open.at[n++] = x;
			continue;
		}
		if (user->close)
			user->close(user->ctx, x.id);
		w->n_changes++;
	}
	w->open.n = n;
}

static bool open_new(struct cpu_watch *w, const struct cpus *online,
		     const struct cpu_watch_user *user)
{
	bool has_opened = false;

	vec_each(cpu, &online->ids) {
		uint64_t life;

		if (find(w, *cpu))
			continue;
		life = cpus_life(*cpu); /* of that which is opened, or of one before */
		if (!user->open(user->ctx, *cpu))
			continue;
		add(w, *cpu, life);
		w->n_changes++;
		has_opened = true;
	}
	return has_opened;
}

bool cpu_watch_look(struct cpu_watch *w, uint64_t now_ns,
		    const struct cpu_watch_user *user)
{
	struct cpus online = { 0 };
	bool has_opened = false;

	if (now_ns < w->next_ns)
		return false;
	w->next_ns = now_ns + w->every_ns;
	if (cpus_online(&online, NULL) == 0) {
		close_gone(w, &online, user);
		has_opened = open_new(w, &online, user);
	}
	cpus_fini(&online);
	return has_opened;
}
