// SPDX-License-Identifier: Apache-2.0
// Typical C++: templates, maps, strings, vectors of unique_ptr, virtual calls, inlined
// lambdas, sorting, and exceptions (67 of 200 calls of thrower throw).
//
//	usage: cxx [ROUNDS]	(400: about a second)
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "workload.h"

struct Shape {
	virtual ~Shape() = default;
	virtual double area(int k) const = 0;
};

struct Square : Shape {
	double side;

	explicit Square(double s) : side(s)
	{
	}

	double area(int k) const override
	{
		double sum = 0;

		for (int i = 0; i < k; i++)
			sum += side * side * (i & 3);
		return sum;
	}
};

struct Circle : Shape {
	double radius;

	explicit Circle(double r) : radius(r)
	{
	}

	double area(int k) const override
	{
		double sum = 0;

		for (int i = 0; i < k; i++)
			sum += 3.14 * radius * radius / (i + 1);
		return sum;
	}
};

static unsigned long seed = 42;

template <class T>
__attribute__((noinline)) double total(const std::vector<std::unique_ptr<T>> &shapes)
{
	double sum = 0;

	std::for_each(shapes.begin(), shapes.end(),
		      [&](const std::unique_ptr<T> &p) { sum += p->area(200); });
	return sum;
}

__attribute__((noinline)) static long thrower(int i)
{
	if (i % 3 == 0)
		throw std::runtime_error("x");
	return i;
}

static long catcher()
{
	long sum = 0;

	for (int i = 0; i < 200; i++) {
		try {
			sum += thrower(i);
		} catch (std::exception &) {
			sum--;
		}
	}
	return sum;
}

static double round_of_work(long *caught)
{
	std::map<std::string, int> counts;
	std::vector<std::unique_ptr<Shape>> shapes;
	std::vector<std::string> words;

	/* Rounds of one length could be in step with the clock that samples them. */
	int n_words = 500 + (int)(workload_random(&seed) % 1000);

	for (int i = 0; i < n_words; i++)
		counts["key-with-long-name-" +
		       std::to_string(workload_random(&seed) % 500)] += i;
	for (int i = 0; i < 300; i++) {
		if (i & 1)
			shapes.push_back(std::make_unique<Square>(i));
		else
			shapes.push_back(std::make_unique<Circle>(i));
	}
	for (auto &pair : counts)
		words.push_back(pair.first);
	std::sort(words.begin(), words.end(),
		  [](const std::string &a, const std::string &b) { return a > b; });
	*caught += catcher();
	return total<Shape>(shapes) + (double)words.size();
}

int main(int argc, char **argv)
{
	long rounds = workload_arg(argc, argv, 1, 400), caught = 0;
	double sum = 0;

	for (long i = 0; i < rounds; i++)
		sum += round_of_work(&caught);
	printf("%.3f %ld\n", sum, caught);
}
