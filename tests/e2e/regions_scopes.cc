// SPDX-License-Identifier: Apache-2.0
//
// Regions that exceptions leave.
#include <cstdio>
#include <dwell.hpp>

static unsigned long n_outer, n_inner, n_after;

static void inner(int i)
{
	DWELL_SCOPE("inner", "scopes");
	n_inner++;
	if (i % 3 == 0)
		throw i;
}

static void outer(int i)
{
	DWELL_SCOPE("outer", "scopes");
	n_outer++;
	inner(i);
	DWELL_SCOPE("after", "scopes");
	n_after++;
}

int main()
{
	for (int i = 0; i < 3000; i++)
		try {
			outer(i);
		} catch (int) {
		}
	std::printf("calls outer %lu\ncalls inner %lu\ncalls after %lu\n", n_outer, n_inner,
		    n_after);
}
