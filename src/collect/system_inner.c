/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_inner.h"

#include <bpf/bpf.h>

int system_inner_put(int map_fd, const uint32_t *places, const int *fds, uint32_t n,
		     struct err *e)
{
	LIBBPF_OPTS(bpf_map_batch_opts, o, .elem_flags = BPF_ANY);
	uint32_t n_put = n;

	if (n > 1 && bpf_map_update_batch(map_fd, places, fds, &n_put, &o) == 0)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		if (bpf_map_update_elem(map_fd, &places[i], &fds[i], BPF_ANY) < 0)
			return err_os(e, "cannot add to a BPF map");
	return 0;
}
