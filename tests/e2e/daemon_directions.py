#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which way branches go, and which memory is accessed, of the whole machine in a database.
usage: daemon_directions.py DWELL DIRECTORY"""
import json
import math
import os
import re
import subprocess
import sys
import time

import harness
from daemons import daemon
from harness import dwell, test

PROGRAM = os.path.abspath(sys.argv[2]) + '/e2e-directions'
SHOWN_BY_REGISTERS = ['often', 'seldom', 'in_table']


def of_function(command, name, d, *options):
    p = dwell(command, name, '--json', '--db', d.db, '--filter', 'command == e2e-directions', *options)
    assert p.returncode == 0, (command, name, p.stdout, p.stderr)
    return json.loads(p.stdout)


def seen(d, name, *options):
    """How often the function's branch was seen to be taken, and not."""
    row, = of_function('calc', name, d, *options)['rows']
    ways, = [b['ways'] for b in row['blocks'] if b['instructions'][-1]['mnemonic'] == 'jb']
    return [next(w['seen'] for w in ways if w['kind'] == kind) for kind in ('taken', 'on')]


def accesses(d, name):
    row, = of_function('calc', name, d, '--all')['rows']
    return [i['accesses'] for b in row['blocks'] for i in b['instructions'] if 'accesses' in i]


def is_near(share, n, true):
    return abs(share - true) < .02 + 4 * math.sqrt(true * (1 - true) / max(n, 1))


def run_over_two_epochs(d):
    """How often each branch was met and taken; beside it are programs of a moment."""
    child = subprocess.Popen([PROGRAM], stdout=subprocess.PIPE, text=True)
    time.sleep(.5)
    d.done('flush')
    time.sleep(.5)
    d.done('epoch', 'later')
    subprocess.run(['bash', '-c', 'for i in {1..50}; do /bin/true; done'], check=True)
    out, _ = child.communicate(timeout=120)
    assert child.returncode == 0
    d.done('flush')
    return {name: (int(taken), int(met)) for name, taken, met in map(str.split, out.splitlines())}


def check_told(d, true):
    for name in SHOWN_BY_REGISTERS:
        taken, on = seen(d, name)
        share = true[name][0] / true[name][1]
        assert taken + on > 60 and is_near(taken / (taken + on), taken + on, share), (name, taken, on, true)


def passages(path):
    p = dwell('cat', '--section', 'directions', path)
    assert p.returncode == 0, p
    return sum(map(int, re.findall(r' times=(\d+)', p.stdout)))


def check_sums(d):
    """What is read as one recording is what all segments have."""
    whole = f'{harness.DIR}/whole.dwell'
    p = dwell('db', 'export', '-o', whole, d.db)
    assert p.returncode == 0, p
    parts = [passages(s) for s in d.segments()]
    assert len(parts) >= 2 and sum(parts) == passages(whole) > 0, parts


@test
def a_database_tells_which_way_branches_go():
    with daemon('--insn', '-F', '997') as d:
        true = run_over_two_epochs(d)
        status = d.status()
        assert status['how'] == 'perf cpu-clock' and 'registers' in status['notice'], status
        check_told(d, true)
        assert seen(d, 'even') == seen(d, 'even', '--image', 'e2e-directions')
        # 'heap' is 36 KB of memory.
        known = [a for a in accesses(d, 'on_heap') if a['known'] > 20]
        assert known and all(0 < a['highest'] - a['lowest'] < 40000 for a in known), known
        p = dwell('cfg', 'even', '--db', d.db, '--filter', 'command == e2e-directions', '-o', f'{harness.DIR}/even.svg')
        assert p.returncode == 0, p
        before = [seen(d, name) for name in ('often', 'seldom')]
        d.quit()
        check_sums(d)
        assert dwell('db', 'compact', d.db).returncode == 0
        assert len(d.segments('0001')) == 1, d.segments()
        assert before == [seen(d, name) for name in ('often', 'seldom')]


@test
def what_has_no_registers_is_refused():
    p = dwell('daemon', '--insn', '-e', 'states', '--db', f'{harness.DIR}/none', '--socket', f'{harness.DIR}/none.socket')
    assert p.returncode == 2 and 'samples of CPU time' in p.stderr, p


if not harness.may_record('perf'):
    sys.exit(harness.skip_all('perf_event_open is not permitted here'))
sys.exit(harness.run_all(harness.TESTS, words=sys.argv[3:]))
