/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/list_machine.h"

#include <elf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "cmd/command.h"
#include "host/core_clock.h"
#include "host/core_kernel.h"
#include "host/cpus.h"
#include "insn/schedule.h"
#include "sym/image.h"

#define N_TURNS 40   /* of a kernel's code: the first half does not count */
#define APART	0.25 /* more or less than the model: is told */

struct machine {
	const struct machine_model *model;
	char processor[160];
	unsigned mhz;
	double *modelled, *measured; /* [kernel]: cycles of each operation */
};

static void machine_fini(struct machine *m)
{
	free(m->modelled);
	free(m->measured);
}

static double pass(struct schedule *s, struct operation_reader *r,
		   const struct core_kernel *k)
{
	double now = 0;

	for (const uint8_t *at = k->code; at < k->end;) {
		struct operation o;

		if (!operation_read(r, at, (size_t)(k->end - at), (uintptr_t)at, &o))
			return NAN;
		now = schedule_step(s, &o, false);
		at += o.size;
	}
	return now;
}

static double modelled_cycles(const struct machine_model *m, struct operation_reader *r,
			      const struct core_kernel *k)
{
	own(schedule_freep) struct schedule *s = schedule_new(m);
	double half = 0, now = 0;

	for (unsigned turn = 0; turn < N_TURNS; turn++) {
		now = pass(s, r, k);
		half = turn + 1 == N_TURNS / 2 ? now : half;
	}
	return (now - half) / (N_TURNS - N_TURNS / 2) / k->n;
}

static int choose(struct machine *m, const char *name, struct err *e)
{
	cpus_processor(m->processor, sizeof(m->processor));
	m->model = name ? machine_model_find(name)
			: machine_model_of(IMAGE_MACHINE_HERE, m->processor);
	if (m->model && m->model->machine == IMAGE_MACHINE_HERE)
		return 0;
	return err_set(e, ERR_USAGE,
		       "no machine model '%.60s' for this machine: see 'dwell list'",
		       name ? name : m->processor);
}

static int fill(struct machine *m, struct err *e)
{
	own(operation_reader_freep) struct operation_reader *r = NULL;
	size_t n = core_kernel_count();
	int rc = operation_reader_new(IMAGE_MACHINE_HERE, &r, e);

	if (rc < 0)
		return rc;
	m->modelled = xcalloc(n, sizeof(*m->modelled));
	m->measured = xcalloc(n, sizeof(*m->measured));
	m->mhz = core_clock_measure();
	core_kernel_measure(m->measured);
	for (size_t i = 0; i < n; i++)
		m->modelled[i] = modelled_cycles(m->model, r, core_kernel_at(i));
	return 0;
}

static bool is_apart(const struct machine *m, size_t i)
{
	double ratio = m->measured[i] / m->modelled[i];

	return ratio > 1 + APART || ratio < 1 / (1 + APART);
}

static bool is_nearest(const struct machine *m)
{
	return machine_model_is_nearest(m->model, m->processor);
}

static void print_text(const struct machine *m)
{
	static const struct table_column columns[] = {
		{ .title = "Cycles of each", .is_elastic = true },
		{ .title = "Model", .align = TABLE_RIGHT },
		{ .title = "Here", .align = TABLE_RIGHT },
		{ .title = "" },
	};
	struct table_style style = { .width = command_terminal()->width,
				     .colour = command_terminal()->colour };
	own(table_freep) struct table *t = table_new(columns, 4);

	printf("Machine model %s: %s%s\nThis processor: %s, at %.2f GHz\n\n",
	       m->model->name, m->model->summary,
	       is_nearest(m) ? ", the nearest to this processor" : "", m->processor,
	       m->mhz / 1000.0);
	for (size_t i = 0; i < core_kernel_count(); i++) {
		table_row(t);
		table_cell(t, core_kernel_at(i)->what);
		table_cellf(t, "%.2f", m->modelled[i]);
		table_cellf(t, "%.2f", m->measured[i]);
		table_cell(t, is_apart(m, i) ? "differs" : "");
	}
	table_print(t, &style, stdout);
	puts("\nBy the quickest of some runs, in cycles of additions one after the "
	     "other. "
	     "Who\nelse uses the core makes it more, never less.");
}

static void print_json(const struct machine *m)
{
	struct json j;

	json_init(&j, stdout);
	json_object(&j);
	json_key_str(&j, "report", "machine");
	json_key_str(&j, "model", m->model->name);
	if (is_nearest(m))
		json_key_bool(&j, "is_nearest_model", true);
	json_key_str(&j, "processor", m->processor);
	json_key_double(&j, "clock_ghz", m->mhz / 1000.0);
	json_key(&j, "rows");
	json_array(&j);
	for (size_t i = 0; i < core_kernel_count(); i++) {
		json_object(&j);
		json_key_str(&j, "what", core_kernel_at(i)->what);
		json_key_double(&j, "model_cycles", m->modelled[i]);
		json_key_double(&j, "cycles", m->measured[i]);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_object_end(&j);
	putchar('\n');
}

int list_machine_print(const char *name, bool is_json, struct err *e)
{
	own(machine_fini) struct machine m = { 0 };
	int rc = choose(&m, name, e);

	if (rc == 0)
		rc = fill(&m, e);
	if (rc < 0)
		return rc;
	if (is_json)
		print_json(&m);
	else
		print_text(&m);
	return EXIT_OK;
}
