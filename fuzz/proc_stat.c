/* SPDX-License-Identifier: Apache-2.0
 *
 * /proc/PID/stat and /proc/stat, lists of CPUs and names of experiments: short texts.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "collect/experiment.h"
#include "host/cpus.h"
#include "host/procfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	own(freep) char *text = xstrndup((const char *)data, size);
	struct experiment_choice choice = { .experiment = experiments[0] };
	struct procfs_stat stat;
	struct cpus cpus = { 0 };
	uint64_t stolen_ns;
	struct err e = { 0 };

	if (procfs_parse_stat(text, &stat, &e) < 0 && !e.text[0])
		abort();
	e.text[0] = '\0';
	if (procfs_parse_stolen_ns(text, &stolen_ns, &e) < 0 && !e.text[0])
		abort();
	e.text[0] = '\0';
	if (cpus_parse(&cpus, text, &e) < 0 && !e.text[0])
		abort();
	cpus_fini(&cpus);
	if (experiment_set_interval(&choice, text, NULL) == 0 &&
	    (choice.interval < choice.experiment->min ||
	     choice.interval > choice.experiment->max))
		abort();
	if (experiment_find(text, &choice, NULL) == 0 && !choice.interval)
		abort();
	return 0;
}
