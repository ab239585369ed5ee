#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our stacks of real programs, interrupted anywhere, against libunwind's.
usage: async.py PRELOAD-LIBRARY SOURCE-ROOT

Compilers, interpreters and a C++ program with exceptions run under async_preload.  Not
one frame may differ; at most one stack in a thousand of each program (or one of few) may
end earlier than libunwind's."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

MAX_EARLY = 0.001
MIN_SAMPLES = 1000
LINE = re.compile(r'(\S+) (local|offline) samples (\d+) equal (\d+) early (\d+) longer (\d+) '
                  r'wrong (\d+) astray (\d+) guess (\d+) depth')
PYTHON = '''
import json, re
def f(n): return n if n < 2 else f(n - 1) + f(n - 2)
f(20)
for _ in range(10): s = json.dumps({str(i): [i] * 5 for i in range(3000)}); json.loads(s)
re.findall(r'([0-9]+)[,]', s * 3); sorted(range(200000), key=lambda k: -k % 77)
'''
PERL = ('my %h; $h{$_ % 5000} .= chr(65 + $_ % 26) for 1..200000; my $s = 0; '
        'for (sort { length $h{$a} <=> length $h{$b} || $a <=> $b } keys %h) '
        '{ $s += () = $h{$_} =~ /[AEIOU]+/g }')


def programs(source, work):
    here = os.path.join(source, 'tests/unit/unwind')
    c_file = os.path.join(source, 'src/unwind/unwind_image.c')
    compile_c = ['-O2', '-D_GNU_SOURCE', '-I' + os.path.join(source, 'src'), '-c', c_file, '-o',
                 os.path.join(work, 'x.o')]
    exceptions = os.path.join(work, 'exceptions')
    yield ['g++', '-O2', os.path.join(here, 'exceptions.cpp'), '-o', exceptions]
    yield [exceptions]
    yield ['gcc', *compile_c]
    yield ['clang', *compile_c]
    without_fp = os.path.join(work, 'without_fp')
    if shutil.which('clang++'):
        subprocess.run(['clang++', '-O3', '-fomit-frame-pointer', os.path.join(here, 'exceptions.cpp'),
                        '-o', without_fp], check=True, timeout=60)
        yield [without_fp]
    # Hand-written assembly: frames of its own, helpers that spare what calls may destroy.
    for cipher in ('aes-256-gcm', 'chacha20-poly1305'):
        yield ['openssl', 'speed', '-seconds', '1', '-bytes', '8192', '-evp', cipher]
    yield ['openssl', 'speed', '-seconds', '1', 'rsa2048', 'ecdsap256']
    yield [os.path.realpath(sys.executable), '-c', PYTHON]
    yield ['perl', '-e', PERL]


def run(argv, preload, out):
    """The lines the program and its children wrote, or None when it hung."""
    if not shutil.which(argv[0]):
        print('#', argv[0], 'is not installed')
        return []
    open(out, 'w').close()
    env = dict(os.environ, LD_PRELOAD=preload, UNWIND_ASYNC_OUT=out)
    try:
        done = subprocess.run(argv, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              timeout=30, check=False)
    except subprocess.TimeoutExpired:
        print('#', argv[0], 'hung in libunwind')  # it blocks on a descriptor clang closed
        return []
    if done.returncode:
        print('#', argv[0], 'failed with', done.returncode, done.stderr.decode()[-1000:])
        return None
    with open(out) as f:
        return f.read().splitlines()


def main():
    preload, source = sys.argv[1:3]
    total = early = wrong = failed = 0
    with tempfile.TemporaryDirectory() as work:
        for argv in programs(source, work):
            lines = run(argv, preload, os.path.join(work, 'out'))
            if lines is None:
                failed += 1
            for line in lines or []:
                print('#', line)
                m = LINE.match(line)
                if m:
                    total += int(m[3])
                    early += int(m[5])
                    wrong += int(m[7])
                    failed += int(m[5]) > max(1, int(m[3]) * MAX_EARLY)
    print(f'# {total} stacks, {wrong} wrong, {early} early')
    if failed or wrong or total < MIN_SAMPLES:
        print('not ok 1 - stacks of interrupted programs equal libunwind')
        return 1
    print('ok 1 - stacks of interrupted programs equal libunwind')
    return 0


if __name__ == '__main__':
    print('1..1')
    sys.exit(main())
