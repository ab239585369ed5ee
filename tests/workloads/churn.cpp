// SPDX-License-Identifier: Apache-2.0
// Short-lived allocations from stacks of varying depth: a map of strings and a hash map
// of vectors, both bounded; every 4096th round copies and sorts the keys.
//
//	usage: churn [ROUNDS [THREADS [regex]]]	(400,000, 1)
#include <algorithm>
#include <cstdio>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "workload.h"

static thread_local unsigned long long state = 88172645463325252ull;

static unsigned random_number()
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 32);
}

struct Words {
	std::map<std::string, std::string> values;
	std::unordered_map<std::string, std::vector<unsigned>> lists;

	void add(int depth)
	{
		if (depth > 0) {
			add(depth - 1);
			return;
		}

		std::string key =
			"key_with_a_long_name_" + std::to_string(random_number() % 5000);

		values[key] = key + "_value_long_enough_to_allocate";
		lists[key].push_back(random_number());
		if (values.size() > 3000)
			values.erase(values.begin());
		if (lists.size() > 3000)
			lists.erase(lists.begin());
	}

	void summarise(long round) const
	{
		std::ostringstream text;
		std::vector<std::string> keys;

		text << round << " " << values.size();
		for (auto &pair : values)
			keys.push_back(pair.first);
		std::sort(
			keys.begin(), keys.end(),
			[](const std::string &a, const std::string &b) { return a > b; });
	}
};

static size_t work(long rounds)
{
	Words words;

	for (long i = 0; i < rounds; i++) {
		words.add((int)(i % 8));
		if (i % 4096 == 0)
			words.summarise(i);
	}
	return words.values.size();
}

static void match_many()
{
	std::regex pattern("(a|b)*c+d?");
	int found = 0;

	for (int i = 0; i < 20000; i++)
		found += std::regex_search("xxabababccd" + std::to_string(i), pattern);
	printf("%d\n", found);
}

int main(int argc, char **argv)
{
	long rounds = workload_arg(argc, argv, 1, 400000);
	long n_threads = workload_arg(argc, argv, 2, 1);
	std::vector<std::thread> threads;

	if (n_threads == 1)
		printf("%zu\n", work(rounds));
	else
		for (long i = 0; i < n_threads; i++)
			threads.emplace_back([rounds] { work(rounds); });
	for (auto &t : threads)
		t.join();
	if (argc > 3)
		match_many();
}
