#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands with their whole output.  usage: run.py DWELL MKRECORDING CASE.cmd…

A case is a shell script; what it prints, on stdout and on stderr, and its exit code must
be what CASE.out says.  Recordings are made from the specs beside it (NAME.spec becomes
NAME.dwell in the directory the case runs in).  UPDATE=1 writes the .out files anew:
review the difference.  Prints TAP."""
import difflib
import glob
import os
import subprocess
import sys
import tempfile


def make_recordings(mkrecording, folder, into):
    for spec in sorted(glob.glob(os.path.join(folder, '*.spec'))):
        name = os.path.basename(spec)[:-len('.spec')]
        subprocess.run([mkrecording, os.path.join(into, name + '.dwell'), spec], check=True)


def run_case(dwell, case, cwd):
    env = {'PATH': os.path.dirname(dwell) + ':' + os.environ['PATH'], 'LC_ALL': 'C.UTF-8',
           'HOME': cwd, 'COLUMNS': '80'}
    done = subprocess.run(['sh', case], cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=30)
    text = done.stdout.decode('utf-8', 'replace')
    return text if done.returncode == 0 else f'{text}exit {done.returncode}\n'


def compare(case, got):
    """Lines of the difference; none when it is as it should be."""
    out = case[:-len('.cmd')] + '.out'
    if os.environ.get('UPDATE') == '1':
        with open(out, 'w', encoding='utf-8') as f:
            f.write(got)
    want = ''
    if os.path.exists(out):
        with open(out, encoding='utf-8') as f:
            want = f.read()
    return list(difflib.unified_diff(want.splitlines(), got.splitlines(), out, 'now',
                                     lineterm=''))


def main():
    dwell, mkrecording, cases = sys.argv[1], sys.argv[2], sys.argv[3:]
    print(f'1..{len(cases)}')
    with tempfile.TemporaryDirectory() as cwd:
        make_recordings(mkrecording, os.path.dirname(cases[0]), cwd)
        for i, case in enumerate(cases, 1):
            lines = compare(case, run_case(os.path.abspath(dwell), case, cwd))
            name = os.path.basename(case)[:-len('.cmd')]
            print(f'{"not " if lines else ""}ok {i} - {name}')
            for line in lines:
                print('# ' + line)


if __name__ == '__main__':
    main()
