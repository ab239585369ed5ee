#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A database answers as a recording of the same samples does.

usage: database.py DWELL MKRECORDING MKDATABASE   Samples made at random are recorded whole
and split over segments, epochs and hosts in several ways, merged and packed.  Prints TAP."""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

DWELL, MKRECORDING, MKDATABASE = (os.path.abspath(word) for word in sys.argv[1:4])
HEAD = ['info command make -j8', 'event cpu-time unit=ns period=10000000 flags=sampled',
        'event faults unit=count period=1 flags=exact experiment=faults',
        'image cc /usr/bin/cc1 build-id=abcd', 'image ld /usr/bin/ld']
REPORTS = [['report'], ['report', '--by', 'image'], ['report', '--by', 'process'],
           ['report', '--by', 'command'], ['report', '--by', 'cpu'], ['report', '--by', 'stack'],
           ['callers', 'work'], ['tree'], ['tree', '--bottom-up'], ['lines'], ['pcs'],
           ['report', '--filter', 'command == ld'], ['report', '--filter', 'leaf == inner']]
EXPORTS = ['folded', 'csv', 'flamegraph']
BY_THREAD = ['perf-script', 'speedscope']  # a class of processes has a thread in each epoch


def dwell(*words, expect=0):
    done = subprocess.run([DWELL, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=60, check=False,
                          env={**os.environ, 'TZ': 'UTC', 'COLUMNS': '100', 'HOME': '.'})
    assert done.returncode == expect, (words, done.returncode, done.stderr.decode())
    return done.stdout.decode(), done.stderr.decode()


def samples(rng, n):
    for _ in range(n):
        pid = rng.choice((100, 101, 102, 200))
        event = rng.choice(('cpu-time', 'faults'))
        depth = rng.randrange(5)
        frames = ['main'] + [rng.choice(('work', 'inner', 'open_[k]', 'ld!link', 'cc!parse'))
                             for _ in range(depth)]
        yield f'{";".join(frames)} {rng.randrange(1, 9)} pid={pid} event={event} cpu={rng.randrange(2)}'


def record(name, lines):
    """All functions in each, in one order, so that they have the same addresses."""
    processes = [f'process {pid} {comm} exe=/usr/bin/{comm} cgroup=/build'
                 for pid, comm in ((100, 'cc1'), (101, 'cc1'), (102, 'cc1'), (200, 'ld'))]
    functions = [f'main;work;inner;open_[k];ld!link;cc!parse 1 pid={pid} event=faults'
                 for pid in (100, 200)]
    with open(name + '.spec', 'w', encoding='utf-8') as f:
        f.write('\n'.join(HEAD + processes + functions + list(lines)) + '\n')
    subprocess.run([MKRECORDING, name + '.dwell', name + '.spec'], check=True)
    return name + '.dwell'


def split(rng, lines, n):
    parts = [[] for _ in range(n)]
    for line in lines:
        parts[rng.randrange(n)].append(line)
    return parts


def numbers(words, source):
    """What a report says but of where it comes from."""
    report = json.loads(dwell(*words, '--json', *source)[0])
    for source in report.pop('sources'):
        assert source
    return report


def answers(source, exports=()):
    for words in REPORTS:
        yield words, numbers(words, source)
    for name in (*EXPORTS, *exports):
        yield name, dwell('export', '-o', '-', '--title', 'x', name, *source)[0]


def prepare(rng, n):
    """The parts one by one, and all of them as one recording without times."""
    parts = [record(f'part{i}', part) for i, part in enumerate(split(rng, list(samples(rng, 400)), n))]
    dwell('db', 'merge', '--keep', 'cpus', '-o', 'whole.dwell', *parts)
    return parts


def check_same(source, want, exports=()):
    for (words, is_now), (_, was) in zip(answers(source, exports), want):
        assert is_now == was, f'{words} of {source} differs'


def one_epoch(rng):
    parts = prepare(rng, 7)
    want = list(answers(['whole.dwell'], BY_THREAD))
    subprocess.run([MKDATABASE, 'db', 'ant', *parts], check=True)
    check_same(['--db', 'db'], want, BY_THREAD)
    check_same(['--db', 'db', '--epoch', 'last', '--host', 'ant'], want, BY_THREAD)
    check_same(['db/ant/0001'], want, BY_THREAD)
    for row in numbers(['report', '--by', 'image'], ['whole.dwell'])['rows']:
        if any(row['exclusive'].values()):
            part = numbers(['report'], ['--db', 'db', '--image', row['name']])
            assert part['total'] == row['exclusive'], row
    dwell('db', 'compact', 'db')
    assert len(os.listdir('db/ant/0001')) <= 3  # the first hour, what is left and MANIFEST
    check_same(['--db', 'db'], want, BY_THREAD)
    dwell('db', 'export', '-o', 'again.dwell', 'db')
    check_same(['again.dwell'], want, BY_THREAD)


def epochs_and_hosts(rng):
    parts = prepare(rng, 6)
    want = list(answers(['whole.dwell']))
    subprocess.run([MKDATABASE, 'db', 'ant', *parts[:2], '--', parts[2]], check=True)
    subprocess.run([MKDATABASE, 'db', 'bee', *parts[3:]], check=True)
    check_same(['--db', 'db'], want)
    dwell('db', 'merge', '-o', 'copy', 'db')
    check_same(['--db', 'copy'], want)
    dwell('db', 'merge', '-o', 'copy.dwell', 'db/ant', 'db/bee')
    check_same(['copy.dwell'], want)
    hosts = {r['name']: r for r in numbers(['report', '--by', 'process'], ['--db', 'db'])['rows']}
    assert len(hosts) == 2, hosts


def ranges_choose_segments(rng):
    parts = prepare(rng, 4)
    subprocess.run([MKDATABASE, 'db', 'ant', *parts], check=True)

    def total(*words):
        out, told = dwell('report', '--json', '--db', 'db', *words)
        return json.loads(out)['total'], told

    whole = [json.loads(dwell('report', '--json', part)[0])['total'] for part in parts]
    for since, until, chosen, is_cut in (('10:00', '10:10', [0], False), ('10:10', '10:30', [1, 2], False),
                                         ('10:15', '10:20', [1], True), ('10:30', '23:00', [3], False)):
        day = '2026-11-21 '
        got, told = total('--since', day + since, '--until', day + until)
        want = {k: sum(whole[i][k] for i in chosen) for k in whole[0]}
        assert got == want, (since, until, got, want)
        assert ('cuts 1 segment, which counts whole' in told) == is_cut, told
    _, told = dwell('report', '--db', 'db', '--since', '2026-11-21 10:40', expect=2)
    assert 'from 2026-11-21 10:00:00 to 2026-11-21 10:40:00' in told, told
    _, told = dwell('report', '--since', '-2h', 'whole.dwell', expect=2)
    assert '--db' in told, told


def damage_is_named_and_the_rest_answered(rng):
    parts = prepare(rng, 3)
    subprocess.run([MKDATABASE, 'db', 'ant', *parts], check=True)
    names = sorted(n for n in os.listdir('db/ant/0001') if n.endswith('.dwell'))
    with open('db/ant/0001/' + names[1], 'r+b') as f:
        f.truncate(10)
    out, _ = dwell('report', '--json', '--db', 'db', expect=1)
    want = [json.loads(dwell('report', '--json', parts[i])[0])['total'] for i in (0, 2)]
    assert json.loads(out)['total'] == {k: want[0][k] + want[1][k] for k in want[0]}, out
    assert names[1] in json.loads(out)['quality']['sources'][0]['damage'], out
    out, _ = dwell('db', 'verify', 'db', expect=1)
    assert names[1] in out and 'damaged' in out, out
    assert re.search(r'1 damaged', dwell('db', 'ls', 'db')[0])


def the_same_content_is_the_same_bytes(rng):
    parts = prepare(rng, 5)
    order = list(parts)
    rng.shuffle(order)
    dwell('db', 'merge', '--keep', 'cpus', '-o', 'other.dwell', *order)
    with open('whole.dwell', 'rb') as a, open('other.dwell', 'rb') as b:
        assert a.read() == b.read()


TESTS = [one_epoch, epochs_and_hosts, ranges_choose_segments, damage_is_named_and_the_rest_answered,
         the_same_content_is_the_same_bytes]


def main():
    print(f'1..{len(TESTS)}')
    failed = 0
    for i, test in enumerate(TESTS, 1):
        name = test.__name__.replace('_', ' ')
        with tempfile.TemporaryDirectory() as directory:
            os.chdir(directory)
            try:
                test(random.Random(i))
                print(f'ok {i} - {name}')
            except (AssertionError, subprocess.SubprocessError, OSError, ValueError) as why:
                failed += 1
                text = f'{type(why).__name__}: {why}'[:2000].replace('\n', '\n# ')
                print(f'not ok {i} - {name}\n# {text}')
            os.chdir('/')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
