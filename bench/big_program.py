# SPDX-License-Identifier: Apache-2.0
"""A large C++ program with debug information, written and built here.

Every part instantiates the library's templates with types of its own, so nothing is
merged at link time and almost every address has a chain of inlined calls."""
import concurrent.futures
import os
import re
import subprocess

PART = """
#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace part_%(part)d {

template <int N> struct Key {
	std::string text;
	int number;
	bool operator<(const Key &o) const { return std::tie(number, text) < std::tie(o.number, o.text); }
};

template <int N> struct Shape {
	virtual ~Shape() = default;
	virtual long area(long x) const { return x * N + %(part)d; }
};

template <int N> struct Square : Shape<N> {
	long area(long x) const override { return x * x + N; }
};

template <int N> long step(long seed)
{
	std::map<Key<N>, std::vector<Key<N>>> index;
	std::unordered_map<std::string, std::variant<long, Key<N>>> table;
	std::set<Key<N>> seen;
	std::vector<std::unique_ptr<Shape<N>>> shapes;

	for (long i = 0; i < 40; i++) {
		Key<N> key{ std::to_string((seed + i) * 2654435761 %% 1000), int(i * 7 %% 13) };

		index[key].push_back(key);
		table[key.text] = i %% 2 ? std::variant<long, Key<N>>(i) : std::variant<long, Key<N>>(key);
		seen.insert(key);
		if (i %% 2)
			shapes.push_back(std::make_unique<Square<N>>());
		else
			shapes.push_back(std::make_unique<Shape<N>>());
	}
	std::vector<Key<N>> all(seen.begin(), seen.end());
	std::sort(all.begin(), all.end(), [](const Key<N> &a, const Key<N> &b) { return b < a; });
	std::stable_sort(all.begin(), all.end(), [](const Key<N> &a, const Key<N> &b) { return a.text < b.text; });

	std::ostringstream out;
	for (auto &[key, list] : index)
		out << key.text << ':' << list.size() << ' ';
	for (auto &[name, value] : table)
		out << name << std::visit([](auto &v) { return sizeof(v); }, value);
	return std::accumulate(shapes.begin(), shapes.end(), seed + long(out.str().size()),
			       [](long sum, const auto &s) { return sum + s->area(sum %% 100); });
}

long match(const std::string &text)
{
	static const std::regex words("([a-z]+)-([0-9]{%(part)d,})|x*y", std::regex::optimize);
	std::smatch found;
	return std::regex_search(text, found, words) ? long(found.position()) : -1;
}

template <int... N> long all(long seed, std::integer_sequence<int, N...>)
{
	return (step<N>(seed) + ...);
}

} // namespace part_%(part)d

long run_part_%(part)d(long seed)
{
	return part_%(part)d::all(seed, std::make_integer_sequence<int, %(steps)d>()) +
	       part_%(part)d::match("abc-" + std::to_string(seed));
}
"""

MAIN = """
#include <cstdio>
#include <cstdlib>
#include <ctime>
%(declarations)s
int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	long sum = 0;
	for (long i = 0; clock() < seconds * CLOCKS_PER_SEC; i++) {
%(calls)s
	}
	printf("%%ld\\n", sum & 1);
}
"""


def _compile(source):
    target = source.with_suffix(".o")
    if not target.exists():
        part = source.with_suffix(".part.o")
        subprocess.run(["g++", "-std=c++17", "-O2", "-g", "-c", source, "-o", part], check=True)
        part.rename(target)
    return target


def build(directory, parts, steps):
    """The program's path; built once per size."""
    directory = directory / f"big-{parts}-{steps}"
    program = directory / "big"
    if program.exists():
        return program
    directory.mkdir(parents=True, exist_ok=True)
    sources = []
    for part in range(parts):
        sources.append(directory / f"part_{part}.cpp")
        sources[-1].write_text(PART % {"part": part, "steps": steps}, encoding="ascii")
    sources.append(directory / "main.cpp")
    sources[-1].write_text(MAIN % {
        "declarations": "\n".join(f"long run_part_{i}(long);" for i in range(parts)),
        "calls": "\n".join(f"\t\tsum += run_part_{i}(i);" for i in range(parts))}, encoding="ascii")
    with concurrent.futures.ThreadPoolExecutor(min(os.cpu_count(), 4)) as pool:
        objects = list(pool.map(_compile, sources))
    subprocess.run(["g++", "-Wl,--build-id", *objects, "-o", program], check=True)
    return program


def text_section(program):
    """File offset and size of its code, and its build-id in hex."""
    sections = subprocess.run(["readelf", "-SW", program], capture_output=True, text=True, check=True).stdout
    found = re.search(r"\.text +PROGBITS +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)", sections)
    notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True).stdout
    return int(found[1], 16), int(found[2], 16), re.search(r"Build ID: ([0-9a-f]+)", notes)[1]
