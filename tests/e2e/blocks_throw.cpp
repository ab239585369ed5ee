// SPDX-License-Identifier: Apache-2.0
// Exceptions that leave many frames with something to do in each, caught and thrown
// again.
#include <cstdio>
#include <stdexcept>
#include <string>

struct Guard {
	int &n;
	~Guard()
	{
		n++;
	}
};

__attribute__((noinline)) static int deep(int n, int &unwound)
{
	Guard guard{ unwound };

	if (n == 0)
		throw std::runtime_error(std::to_string(unwound));
	return deep(n - 1, unwound) + 1;
}

__attribute__((noinline)) static int relay(int n, int &unwound)
{
	try {
		return deep(n, unwound);
	} catch (const std::exception &) {
		unwound++;
		throw;
	}
}

int main()
{
	int unwound = 0;
	long sum = 0;

	for (int i = 0; i < 200; i++)
		try {
			relay(50 + i % 7, unwound);
		} catch (const std::runtime_error &e) {
			sum += e.what()[0];
		}
	std::printf("%d %ld\n", unwound, sum);
}
