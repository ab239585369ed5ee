// SPDX-License-Identifier: Apache-2.0
// Exceptions thrown and caught at many depths, with destructors and callbacks on the way.
#include <algorithm>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
unsigned long n_destroyed;

struct guard {
	std::string text;
	explicit guard(int n) : text(static_cast<size_t>(n % 40), 'x')
	{
	}
	~guard()
	{
		n_destroyed += text.size();
	}
};

__attribute__((noinline)) int dive(int n, int seed)
{
	guard g(n + seed);

	if (n == 0)
		throw std::runtime_error(g.text);
	return dive(n - 1, seed) + static_cast<int>(g.text.size());
}

__attribute__((noinline)) int attempt(int depth, int seed)
{
	try {
		return dive(depth, seed);
	} catch (const std::exception &e) {
		return static_cast<int>(std::string(e.what()).size());
	}
}
} // namespace

int main()
{
	std::map<std::string, int> seen;
	std::vector<int> order;
	long sum = 0;

	for (int i = 0; i < 20000; i++) {
		if (i % 10 == 0)
			sum += attempt(i % 30, i);
		seen["key" + std::to_string(i * 7919 % 5000)] += i;
		order.push_back(i * 31 % 1009);
		if (order.size() == 1000) {
			std::sort(order.begin(), order.end(),
				  [](int a, int b) { return a % 97 < b % 97; });
			order.clear();
		}
	}
	std::printf("%ld %zu %lu\n", sum, seen.size(), n_destroyed);
	return 0;
}
