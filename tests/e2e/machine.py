#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""'dwell list --machine': what models have for loops is known, and what this machine takes for
them is something; how right a model is, bench/models tells.
usage: machine.py DWELL"""
import json
import platform
import sys

from harness import TESTS, dwell, run_all, test

X86 = platform.machine() == 'x86_64'
# Cycles of some loops, by model; of another architecture the models are refused.
KNOWN = {
    'zen4': {'integer additions': 0.25, 'loads, one after the other': 4, 'double divisions': 5},
    'zen5': {'integer products, one after the other': 3, 'double additions, one after the other': 2, 'loads': 0.25},
    'zen3': {'integer additions': 0.25, 'loads, one after the other': 4, 'double additions': 0.5},
    'skylake': {'loads': 0.5, 'loads, one after the other': 5, 'stores': 1, 'double additions, one after the other': 4},
    'golden-cove': {'integer additions': 0.2, 'moves of registers': 1 / 6, 'stores': 0.5},
    'redwood-cove': {'double multiplications, one after the other': 3, 'moves to a vector and back': 4, 'loads': 1 / 3},
} if X86 else {
    'neoverse-n1': {'integer additions': 1 / 3, 'integer products of 64 bits, one after the other': 4, 'loads': 0.5},
    'neoverse-v1': {'integer additions': 0.25, 'integer products of 64 bits, one after the other': 2, 'loads': 1 / 3},
}
OTHER = 'neoverse-n1' if X86 else 'zen4'


def machine(*args):
    p = dwell('list', '--machine', '--json', *args)
    assert p.returncode == 0 and not p.stderr, p.stderr
    return json.loads(p.stdout)


@test
def each_loop_takes_something_here_and_by_the_model():
    told = machine()
    assert told['report'] == 'machine' and told['clock_ghz'] > 0.1, told
    assert len(told['rows']) > 10, told
    assert told['rows'][0]['cycles'] == 1 and abs(told['rows'][0]['model_cycles'] - 1) < 0.02, told
    for row in told['rows']:
        assert row['cycles'] > 0 and 0.05 < row['model_cycles'] < 100, row


@test
def models_have_what_is_known():
    for model, known in KNOWN.items():
        told = {row['what']: row['model_cycles'] for row in machine('--model', model)['rows']}
        for what, cycles in known.items():
            assert abs(told[what] / cycles - 1) < 0.03, (model, what, told[what])


@test
def the_text_has_the_same_rows():
    p = dwell('list', '--machine')
    assert p.returncode == 0, p.stderr
    told = machine()
    assert f"Machine model {told['model']}:" in p.stdout, p.stdout
    for row in told['rows']:
        assert any(line.startswith(row['what'] + ' ') and f"{row['model_cycles']:.2f}" in line for line in p.stdout.splitlines()), row


@test
def what_makes_no_sense_is_refused():
    for args in (['--machine', '--model', OTHER], ['--machine', '--model', 'none'], ['--model', 'zen4'], ['--machine', '/bin/sh']):
        p = dwell('list', *args)
        assert p.returncode == 2 and p.stderr.count('\n') == 1 and not p.stdout, (args, p.stdout, p.stderr)


if __name__ == '__main__':
    sys.exit(run_all(TESTS, words=sys.argv[2:]))
