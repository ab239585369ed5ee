// SPDX-License-Identifier: Apache-2.0
//
// Answers each line with "done", when it has taken 300 blocks by operators of C++ and given
// back 275 of them: 25 of 40 bytes are left.  A library, too, that does so when asked.
#include <cstdio>
#include <new>

struct alignas(64) wide {
	char bytes[64];
};

static void *volatile kept;

template <typename T> static T *keep(T *p)
{
	kept = p;
	return p;
}

static __attribute__((noinline)) void take(int i)
{
	int *several = keep(new int[10]);
	long *one = keep(i % 2 ? new long : new (std::nothrow) long);
	wide *other = keep(new wide);

	if (i % 4)
		delete[] several;
	delete one;
	delete other;
}

extern "C" void take_hundred()
{
	for (int i = 0; i < 100; i++)
		take(i);
}

int main()
{
	char line[100];

	std::puts("ready");
	std::fflush(stdout);
	while (std::fgets(line, sizeof(line), stdin)) {
		take_hundred();
		std::puts("done");
		std::fflush(stdout);
	}
}
