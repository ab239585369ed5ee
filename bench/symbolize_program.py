#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A large C++ library with debug information: 24 units full of regular expressions and
maps, 46 MB with gcc 12.  Takes two minutes on two processors.

usage: symbolize_program.py OUTPUT.so [UNITS]"""
import concurrent.futures
import os
import subprocess
import sys
import tempfile

SOURCE = r'''
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
namespace unit%(i)d {
struct key { std::string a; int b; bool operator<(const key &o) const { return std::tie(a, b) < std::tie(o.a, o.b); } };
template <int N> struct worker {
  std::map<key, std::vector<std::string>> m;
  std::unordered_map<std::string, std::unique_ptr<key>> u;
  int run(const std::string &s) {
    std::regex r("(\\w+)-(\\d+){" + std::to_string(N) + "}");
    std::smatch sm;
    int t = 0;
    std::string q = s;
    while (std::regex_search(q, sm, r)) {
      m[key{sm[1].str(), N}].push_back(sm[2].str());
      u[sm[0]] = std::make_unique<key>(key{q, N});
      q = sm.suffix();
      t += N;
    }
    for (auto &p : m) {
      std::sort(p.second.begin(), p.second.end(),
                [](const std::string &a, const std::string &b) { return a.size() < b.size(); });
      t += (int)p.second.size();
    }
    std::function<int(int)> f = [&](int x) {
      std::ostringstream o;
      o << x << s;
      return (int)o.str().size() + (x > 0 ? f(x - 1) : 0);
    };
    return t + f(N);
  }
};
}
extern "C" int entry%(i)d(const char *s) {
  unit%(i)d::worker<%(i)d> a;
  unit%(i)d::worker<%(i)d + 100> b;
  unit%(i)d::worker<%(i)d + 200> c;
  return a.run(s) + b.run(s) + c.run(s);
}
'''


def compile_unit(directory, i):
    source = os.path.join(directory, f'unit{i}.cc')
    with open(source, 'w') as f:
        f.write(SOURCE % {'i': i})
    target = source[:-2] + 'o'
    subprocess.run(['g++', '-O2', '-g', '-fPIC', '-std=c++17', '-c', source, '-o', target], check=True)
    return target


def main():
    output = os.path.abspath(sys.argv[1])
    units = int(sys.argv[2]) if len(sys.argv) > 2 else 24
    with tempfile.TemporaryDirectory() as directory:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(lambda i: compile_unit(directory, i), range(units)))
        subprocess.run(['g++', '-shared', '-Wl,--build-id', *objects, '-o', output], check=True)


if __name__ == '__main__':
    main()
