#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every frame that llvm-symbolizer names: function, file, line and column, on random
addresses of programs built in all the ways debug information is written.

usage: oracle_test.py SYMBOLIZE-ADDRESSES"""
import os
import random
import shutil
import subprocess
import sys
import tempfile

N_ADDRESSES = 2500
ORACLES = ['llvm-symbolizer', 'llvm-symbolizer-14']

# Templates and inline functions of the standard library in two units, so that the
# linker keeps one of several copies, plus what has no linkage name.
SOURCE = r'''
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>
namespace unit%(i)d {
struct key { std::string a; int b; bool operator<(const key &o) const { return a < o.a || (a == o.a && b < o.b); } };
static inline int twice(int x) { struct local { static int f(int v) { return v * 2; } }; return local::f(x) + x; }
template <int N> int run(const std::string &s) {
  std::map<key, std::vector<std::string>> m;
  for (int i = 0; i < N; i++) m[key{s + std::to_string(i), twice(i)}].push_back(s);
  int t = 0;
  for (auto &p : m) {
    std::sort(p.second.begin(), p.second.end(), [](const auto &a, const auto &b) { return a.size() < b.size(); });
    t += (int)p.second.size();
  }
  std::function<int(int)> f = [&](int x) { return x > 0 ? f(x - 1) + (int)s.size() : 0; };
  if (t < 0) throw std::string("cold");
  return t + f(N);
}
}
int entry%(i)d(const char *s) { return unit%(i)d::run<7>(s) + unit%(i)d::run<70>(s); }
'''
MAIN = r'''
#include <stdio.h>
int entry0(const char *s); int entry1(const char *s);
static int helper(int n) { return n * n + 1; }
int main(int argc, char **argv) { printf("%d\n", entry0(argv[0]) + entry1(argv[0]) + helper(argc)); }
'''


def run(cmd, **kw):
    return subprocess.run(cmd, capture_output=True, text=True, check=True, timeout=120, **kw).stdout


def dwz(path):
    run(['dwz', path])


def compress(path):
    run(['objcopy', '--compress-debug-sections=zlib', path])


def separate(path):
    """Debug information in a file of its own, found by .gnu_debuglink."""
    run(['objcopy', '--only-keep-debug', path, path + '.debug'])
    run(['objcopy', '--strip-debug', '--add-gnu-debuglink=' + path + '.debug', path])


def multi(path):
    """What dwz finds twice in two files, in a third one, which the oracle does not read."""
    shutil.copy(path, path + '.whole')
    shutil.copy(path, path + '2')
    run(['dwz', '-m', path + '.common', path, path + '2'])


def package(path, tool='dwp'):
    """All .dwo in one .dwp; the .dwo go away."""
    run([tool, '-e', path, '-o', path + '.dwp'])
    for f in os.listdir('.'):
        if f.endswith('.dwo'):
            os.unlink(f)


def llvm_package(path):
    package(path, 'llvm-dwp')


# name, compiler, flags, what is done afterwards, tools that takes
VARIANTS = [
    ('gcc DWARF 5', 'g++', ['-gdwarf-5'], None, []),
    ('gcc DWARF 4', 'g++', ['-gdwarf-4'], None, []),
    ('gcc DWARF 3', 'g++', ['-gdwarf-3', '-gstrict-dwarf'], None, []),
    ('gcc DWARF 2', 'g++', ['-gdwarf-2'], None, []),
    ('gcc not optimised', 'g++', ['-g', '-O0'], None, []),
    ('gcc link-time optimisation', 'g++', ['-g', '-flto'], None, []),
    ('gcc 64-bit DWARF', 'g++', ['-g', '-gdwarf64'], None, []),
    ('gcc fixed address', 'g++', ['-g', '-no-pie', '-fno-pie'], None, []),
    ('gcc sections collected', 'g++', ['-g', '-ffunction-sections', '-Wl,--gc-sections'], None, []),
    ('gcc split DWARF 5', 'g++', ['-g', '-gsplit-dwarf'], None, []),
    ('gcc split DWARF 4', 'g++', ['-gdwarf-4', '-gsplit-dwarf'], None, []),
    ('gcc split in a package', 'g++', ['-gdwarf-4', '-gsplit-dwarf'], package, ['dwp']),
    ('gcc dwz', 'g++', ['-g'], dwz, ['dwz']),
    ('gcc dwz with a common file', 'g++', ['-g'], multi, ['dwz']),
    ('gcc type units DWARF 4', 'g++', ['-gdwarf-4', '-fdebug-types-section'], None, []),
    ('gcc type units DWARF 5', 'g++', ['-gdwarf-5', '-fdebug-types-section'], None, []),
    ('gcc split type units', 'g++', ['-gdwarf-4', '-gsplit-dwarf', '-fdebug-types-section'], None, []),
    ('gcc split type units 5', 'g++', ['-gdwarf-5', '-gsplit-dwarf', '-fdebug-types-section'], None, []),
    ('gcc -O3, no frame pointers', 'g++', ['-g', '-O3', '-fomit-frame-pointer'], None, []),
    ('gcc -Os', 'g++', ['-g', '-Os'], None, []),
    ('gcc -g1', 'g++', ['-g1'], None, []),
    ('gcc compressed', 'g++', ['-g'], compress, []),
    ('gcc separate', 'g++', ['-g'], separate, []),
    ('gcc lld', 'g++', ['-g', '-fuse-ld=lld'], None, ['ld.lld']),
    ('clang DWARF 5', 'clang++', ['-gdwarf-5'], None, ['clang++']),
    ('clang DWARF 4', 'clang++', ['-gdwarf-4'], None, ['clang++']),
    ('clang split DWARF 5', 'clang++', ['-gdwarf-5', '-gsplit-dwarf'], None, ['clang++']),
    ('clang split in a package 5', 'clang++', ['-gdwarf-5', '-gsplit-dwarf'], llvm_package, ['clang++', 'llvm-dwp']),
    ('clang split, inlining in the skeleton', 'clang++', ['-gdwarf-5', '-gsplit-dwarf', '-fsplit-dwarf-inlining'],
     None, ['clang++']),
    ('clang type units', 'clang++', ['-gdwarf-5', '-fdebug-types-section'], None, ['clang++']),
    ('clang type units 4', 'clang++', ['-gdwarf-4', '-fdebug-types-section'], None, ['clang++']),
    ('clang thin link-time optimisation', 'clang++', ['-g', '-flto=thin', '-fuse-ld=lld'], None, ['clang++', 'ld.lld']),
    ('clang lines only', 'clang++', ['-gline-tables-only'], None, ['clang++']),
    ('clang 2', 'clang++', ['-gdwarf-2'], None, ['clang++']),
]


def build(variant, directory):
    _, compiler, flags, after, _ = variant
    os.makedirs(directory)
    os.chdir(directory)
    for i in range(2):
        with open(f'unit{i}.cc', 'w') as f:
            f.write(SOURCE % {'i': i})
    with open('main.cc', 'w') as f:
        f.write(MAIN)
    names = ['main', 'unit0', 'unit1']
    for name in names:
        compile_flags = [f for f in flags if not f.startswith('-Wl') and not f.startswith('-fuse')]
        run([compiler, '-O2', *compile_flags, '-c', name + '.cc', '-o', name + '.o'])
    run([compiler, '-O2', *flags, '-Wl,--build-id', *[n + '.o' for n in names], '-o', 'program'])
    if after:
        after('program')
    return os.path.join(directory, 'program')


def code_addresses(path):
    """Random addresses of .text."""
    for line in run(['readelf', '-SW', path]).splitlines():
        words = line.replace('[ ', '[').split()
        if len(words) > 5 and words[1] == '.text':
            start, size = int(words[3], 16), int(words[5], 16)
            return random.Random(1).sample(range(start, start + size), min(N_ADDRESSES, size))
    return []


def frames(text):
    """One list of (function, file, line, column) per address."""
    result = []
    for block in text.rstrip('\n').split('\n\n'):
        lines = block.split('\n')
        chain = []
        for function, place in zip(lines[::2], lines[1::2]):
            path, line, column = place.rsplit(':', 2)
            # A file without line is the unit's name from the symbol table.
            function = '??' if function.startswith('[') else function
            chain.append((function, os.path.normpath(path) if '/' in path else '??',
                          *((line, column) if '/' in path else ('0', '0'))))
        result.append(chain)
    return result


def aliases(path):
    """Names that stand for the same address: any of them is right."""
    groups = {}
    for line in run(['nm', path]).splitlines():
        words = line.split()
        if len(words) == 3:
            groups.setdefault(words[0], set()).add(words[2])
    return {name: group for group in groups.values() for name in group}


def same(mine, theirs, alias):
    if len(mine) != len(theirs):
        return False
    return all(a[1:] == b[1:] and (a[0] == b[0] or b[0] in alias.get(a[0], ()))
               for a, b in zip(mine, theirs))


def compare(path, program, oracle):
    addresses = code_addresses(path)
    text = ''.join(f'{a:#x}\n' for a in addresses)
    mine = frames(run([program, path], input=text))
    whole = path + '.whole' if os.path.exists(path + '.whole') else path
    theirs = frames(run([oracle, '--inlines', '--functions=linkage', '--no-demangle', '-e', whole],
                        input=text))
    alias = aliases(path)
    wrong = [(a, m, t) for a, m, t in zip(addresses, mine, theirs) if not same(m, t, alias)]
    for address, m, t in wrong[:2]:
        print(f'# {address:#x}\n#   here  {m}\n#   there {t}')
    n = sum(len(t) for t in theirs)
    return not wrong and len(mine) == len(theirs) == len(addresses) and n > 0, \
        f'{len(addresses)} addresses, {n} frames, {len(wrong)} differ'


def main():
    program = os.path.abspath(sys.argv[1])
    oracle = next(filter(None, map(shutil.which, ORACLES)), None)
    if not oracle or not shutil.which('g++'):
        print('1..0 # SKIP needs llvm-symbolizer and g++')
        return 0
    print(f'1..{len(VARIANTS)}')
    failed = False
    with tempfile.TemporaryDirectory() as directory:
        for i, variant in enumerate(VARIANTS, 1):
            missing = [t for t in variant[4] if not shutil.which(t)]
            if missing:
                print(f'ok {i} - {variant[0]} # SKIP needs {missing[0]}')
                continue
            path = build(variant, os.path.join(directory, str(i)))
            ok, text = compare(path, program, oracle)
            failed |= not ok
            print(f'{"ok" if ok else "not ok"} {i} - {variant[0]}: {text}', flush=True)
        os.chdir('/')
    return failed


if __name__ == '__main__':
    sys.exit(main())
