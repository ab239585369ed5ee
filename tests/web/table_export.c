/* SPDX-License-Identifier: Apache-2.0
 *
 * usage: table_export FORMAT > FILE: the tests' profile in that format, so that a
 * format's real reader can be tried on it.
 */
#include "table_profile.h"

int main(int argc, char **argv)
{
	static const struct export_options o = { .title = "</title><b>example</b>" };
	const struct exporter *x = argc == 2 ? exporter_find(argv[1]) : NULL;
	own(profile_freep) struct profile *p = table_profile_load(&table_profile_example);
	struct err e = { 0 };

	if (!x || !x->write || x->write(p, &o, stdout, &e) < 0) {
		fprintf(stderr, "table_export: %s\n", x ? e.text : "no such format");
		return 1;
	}
	return 0;
}
