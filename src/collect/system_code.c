/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_code.h"

#define ROWS_BYTES ((size_t)24 << 20)

static void on_forget(void *ctx, uint32_t number)
{
	struct system_code *c = ctx;

	system_images_forget(c->images, number);
	system_rows_forget(c->rows, number);
}

int system_code_open(struct system_code *c, const struct system_code_settings *x,
		     struct err *e)
{
	struct system_numbers_settings numbers = { .ctx = c, .forget = on_forget };
	const struct system_code_maps *m = &x->maps;
	int rc = x->is_taken ? system_rows_take(&m->rows, ROWS_BYTES, &c->rows, e)
			     : system_rows_new(&m->rows, ROWS_BYTES, x->first_bytes,
					       &c->rows, e);

	if (rc == 0)
		rc = system_numbers_new(&m->numbers, &numbers, &c->numbers, e);
	if (rc == 0)
		rc = system_apart_new(m->apart, x->chosen, &c->apart, e);
	if (rc < 0)
		return rc;
	c->n_unnumbered = m->n_unnumbered;
	c->images = system_images_new(c->rows);
	system_images_keep_symbols(c->images, x->symbols);
	return 0;
}

void system_code_fini(struct system_code *c)
{
	system_apart_free(c->apart);
	system_images_free(c->images);
	system_numbers_free(c->numbers);
	system_rows_free(c->rows);
	*c = (struct system_code){ 0 };
}

void system_code_meet(struct system_code *c, const struct stack_record_image *r)
{
	system_images_meet(c->images, r);
	system_apart_decide(c->apart, r->image, system_images_path(c->images, r->image));
}

void system_code_tick(struct system_code *c, uint64_t now_ns)
{
	system_rows_tick(c->rows, now_ns);
	system_numbers_tick(c->numbers, now_ns);
}

void system_code_status(const struct system_code *c, struct recorder_counted *ret)
{
	ret->n_images = system_rows_n_loaded(c->rows);
	ret->n_gone = system_images_n_gone(c->images);
	ret->n_again = system_numbers_n_again(c->numbers);
	ret->n_unnumbered = *c->n_unnumbered;
}
