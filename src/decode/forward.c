/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/forward.h"

forward_went_on forward_end(struct forward_walk *w, enum forward_end why)
{
	w->path->end = why;
	return false;
}

static unsigned at_most(unsigned n, unsigned limit)
{
	return n < limit ? n : limit;
}

/* false: there is room for no more, or its way is unknown. */
static forward_went_on tell(struct forward_walk *w, enum forward_kind kind,
			    enum forward_way way, uint64_t to)
{
	struct forward_path *path = w->path;

	if (path->n_branches >= at_most(w->limits->n_branches, FORWARD_MAX_BRANCHES))
		return forward_end(w, FORWARD_LIMIT);
	path->branches[path->n_branches++] = (struct forward_branch){
		.addr = w->ip, .to = to, .kind = (uint8_t)kind, .way = (uint8_t)way
	};
	if (way == FORWARD_UNKNOWN)
		return forward_end(w, FORWARD_AT_BRANCH);
	w->ip = to;
	return true;
}

forward_went_on forward_either_way(struct forward_walk *w, struct known_bits is,
				   uint64_t next, uint64_t target)
{
	if (!is.known)
		return tell(w, FORWARD_CONDITIONAL, FORWARD_UNKNOWN, 0);
	if (is.bits)
		return tell(w, FORWARD_CONDITIONAL, FORWARD_TAKEN, target);
	return tell(w, FORWARD_CONDITIONAL, FORWARD_NOT_TAKEN, next);
}

forward_went_on forward_to(struct forward_walk *w, enum forward_kind kind,
			   struct known_bits to)
{
	if (!known_bits_is_whole(to, 8))
		return tell(w, kind, FORWARD_UNKNOWN, 0);
	return tell(w, kind, FORWARD_TAKEN, to.bits);
}

void forward_tell_access(struct forward_walk *w, struct known_bits addr)
{
	struct forward_path *path = w->path;

	if (path->n_accesses < FORWARD_MAX_ACCESSES)
		path->accesses[path->n_accesses++] = (struct forward_access){
			.ip = w->ip, .addr = known_bits_is_whole(addr, 8) ? addr.bits : 0
		};
}

void forward_run(struct forward_walk *w, forward_step_fn *step, void *machine)
{
	unsigned n_insns = at_most(w->limits->n_insns, FORWARD_MAX_INSNS);
	struct forward_path *path = w->path;

	path->n_insns = 0;
	path->n_branches = 0;
	path->n_accesses = 0;
	path->end = FORWARD_LIMIT;
	while (path->n_insns < n_insns && step(w, machine))
		path->n_insns++;
	path->last.ip = w->ip;
}

void forward_load_regs(const struct forward_state *from, struct known_bits *regs,
		       unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		regs[i] = from->known_regs >> i & 1 ? known_bits_of(from->regs[i], 8)
						    : (struct known_bits){ 0, 0 };
}

void forward_save_regs(const struct known_bits *regs, unsigned n,
		       struct forward_state *ret)
{
	ret->known_regs = 0;
	for (unsigned i = 0; i < n; i++) {
		bool is_known = known_bits_is_whole(regs[i], 8);

		ret->regs[i] = is_known ? regs[i].bits : 0;
		ret->known_regs |= (uint32_t)is_known << i;
	}
}
