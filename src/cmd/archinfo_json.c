/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/archinfo_json.h"

#include "base/json.h"
#include "cmd/report_json.h"

static void begin_row(struct json *j, const char *table, const char *name)
{
	json_object(j);
	json_key_str(j, "table", table);
	json_key_str(j, "name", name);
}

static void put_total(struct json *j, const char *name, uint64_t n)
{
	begin_row(j, "totals", name);
	json_key_u64(j, "times", n);
	json_object_end(j);
}

static void put_totals(struct json *j, const struct archinfo_data *d)
{
	put_total(j, "instructions", d->mix.times);
	put_total(j, "distinct-instructions", d->mix.n_distinct);
	put_total(j, "known-instructions", d->mix.known.times);
	put_total(j, "bytes", d->mix.bytes);
	put_total(j, "loads", d->mix.known.loads);
	put_total(j, "stores", d->mix.known.stores);
	put_total(j, "loads-and-stores", d->mix.loads_and_stores);
	if (!d->has_flow)
		return;
	put_total(j, "blocks", d->flow.entered);
	put_total(j, "distinct-blocks", d->flow.n_blocks);
	put_total(j, "taken-branches", block_flow_taken(&d->flow));
}

static void put_uses(struct json *j, const char *table, const char *name,
		     const struct instruction_mix_uses *u)
{
	if (!u->times)
		return;
	begin_row(j, table, name);
	json_key_u64(j, "times", u->times);
	json_key_u64(j, "loads", u->loads);
	json_key_u64(j, "stores", u->stores);
	json_object_end(j);
}

static void put_kinds(struct json *j, const struct archinfo_data *d)
{
	for (unsigned i = 0; i < INSTRUCTION_KIND_N; i++)
		put_uses(j, "kinds", instruction_kind_key(i), &d->mix.kinds[i]);
	for (unsigned i = 0; i < INSTRUCTION_KIND_N_FORMS; i++)
		put_uses(j, "operands", instruction_kind_form_key(i), &d->mix.forms[i]);
}

static void put_flow(struct json *j, const char *name, uint64_t times)
{
	begin_row(j, "flow", name);
	json_key_u64(j, "times", times);
	json_object_end(j);
}

static void put_sites(struct json *j, const char *name, const struct block_flow_sites *s)
{
	begin_row(j, "flow", name);
	json_key_u64(j, "times", s->times);
	json_key_u64(j, "sites", s->n_sites);
	json_key_u64(j, "ways", s->n_targets);
	json_key_u64(j, "usual", s->most);
	json_object_end(j);
}

static void put_flows(struct json *j, const struct block_flow *f)
{
	put_sites(j, "branches", &f->branches);
	put_flow(j, "taken", f->taken);
	put_flow(j, "taken-forward", f->taken_forward);
	put_flow(j, "taken-backward", f->taken_backward);
	put_flow(j, "jumps", f->jumps);
	put_sites(j, "indirect-jumps", &f->indirect_jumps);
	put_flow(j, "calls", f->calls);
	put_sites(j, "indirect-calls", &f->indirect_calls);
	put_flow(j, "returns", f->returns);
	put_flow(j, "system-calls", f->system_calls);
}

static void put_mnemonics(struct json *j, const struct archinfo_data *d)
{
	char text[64];

	for (size_t i = 0; i < archinfo_data_mnemonics(d); i++) {
		begin_row(j, "mnemonics",
			  archinfo_data_mnemonic(d, i, text, sizeof(text)));
		json_key_u64(j, "times", d->mix.mnemonics.at[i].times);
		json_object_end(j);
	}
}

static void put_registers(struct json *j, const struct archinfo_data *d)
{
	char text[64];

	for (unsigned i = 0; i < OPERATION_N_REGS; i++) {
		const struct instruction_mix_register *r = &d->mix.registers[i];

		if (!r->reads && !r->writes && !r->addresses)
			continue;
		begin_row(j, "registers",
			  archinfo_data_register(d, i, text, sizeof(text)));
		json_key_u64(j, "reads", r->reads);
		json_key_u64(j, "writes", r->writes);
		json_key_u64(j, "addresses", r->addresses);
		json_object_end(j);
	}
}

static void put_missing(struct json *j, const struct archinfo_data *d)
{
	vec_each(x, &d->mix.missing) {
		begin_row(j, "not-at-hand", x->path);
		json_key_u64(j, "times", x->times);
		json_object_end(j);
	}
}

void archinfo_json_print(const struct archinfo_data *d, FILE *out)
{
	struct json j;

	report_json_begin(&j, &d->report, "archinfo", out);
	put_totals(&j, d);
	put_kinds(&j, d);
	if (d->has_flow)
		put_flows(&j, &d->flow);
	put_mnemonics(&j, d);
	put_registers(&j, d);
	put_missing(&j, d);
	report_json_end(&j, &d->report);
}
