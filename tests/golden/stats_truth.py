#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What dwell stats computes, computed again.  usage: stats_truth.py DWELL MKRECORDING

Ten recordings of one program with planted differences; the same numbers are taken from
'dwell report --json' of each and put through Python's statistics.  Prints TAP."""
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile

RUNS, STEADY = 10, 120
# Mean samples of functions, and by what each run multiplies them.
PLANTED = {'moves': [1, 1, 1, 3, 1, 1, 1, 1, 1, 1], 'grows': [1 + i / 5 for i in range(RUNS)],
           'once': [0, 0, 0, 0, 0, 0, 1, 0, 0, 0]}


def poisson(rng, mean):
    """Knuth's, in pieces that exp() can do."""
    n = 0
    while mean > 0:
        piece = min(mean, 500)
        mean -= piece
        product, limit = rng.random(), math.exp(-piece)
        while product > limit:
            product *= rng.random()
            n += 1
    return n


def write_run(mkrecording, path, rng, run):
    lines = ['process 7 prog', 'event cpu-time unit=ns period=1000000 experiment=usertime '
             'source=test flags=sampled', 'use pid=7 tid=7']
    means = {f'steady{i}': 0.2 * 1.06 ** i for i in range(STEADY)}
    means.update({name: 60 * by[run] for name, by in PLANTED.items()})
    for name, mean in means.items():
        n = poisson(rng, mean)
        if n:
            lines.append(f'main;{name} {n}')
    subprocess.run([mkrecording, path], input='\n'.join(lines), text=True, check=True)


def chi_square_tail(x, degrees):
    """1 - P(k/2, x/2), by the series of the incomplete gamma function."""
    a, half = degrees / 2, x / 2
    term = total = 1 / a
    for k in range(1, 1000):
        term *= half / (a + k)
        total += term
    return 1 - total * math.exp(-half + a * math.log(half) - math.lgamma(a)) if half else 1.0


def report(dwell, command, *args):
    done = subprocess.run([dwell, *command.split(), '--json', *args], capture_output=True,
                          text=True, check=True)
    return json.loads(done.stdout)


class Truth:
    """What each recording says by itself."""

    def __init__(self, dwell, paths, scale):
        reports = [report(dwell, 'report', path) for path in paths]
        totals = [r['total']['cpu-time'] for r in reports]
        mean = statistics.mean(totals)
        self.factors = [mean / t if scale else 1 for t in totals]
        self.totals = [t * f for t, f in zip(totals, self.factors)]
        self.values = {}
        for i, r in enumerate(reports):
            for row in r['rows']:
                of_row = self.values.setdefault(row['name'], [0] * len(paths))
                of_row[i] = row['exclusive']['cpu-time'] * self.factors[i]

    def spread(self, name):
        v = self.values[name]
        return {'range': (max(v) - min(v)) / sum(v) if sum(v) else 0, 'sum': sum(v),
                'n': sum(x > 0 for x in v), 'mean': statistics.mean(v),
                'deviation': statistics.stdev(v), 'min': min(v), 'max': max(v)}

    def chance(self, name):
        """How likely equal rates spread as much."""
        v = self.values[name]
        mean, share = statistics.mean(v), sum(v) / sum(self.totals)
        x = sum((a - mean) ** 2 / (mean * 1e6 * f * (1 - share)) for a, f in zip(v, self.factors))
        return chi_square_tail(x, len(v) - 1)


def check_numbers(got, truth):
    for row in got['rows']:
        want = truth.spread(row['name'])
        have = row['spread']['cpu-time']
        for key, value in want.items():
            if not math.isclose(have[key], value, rel_tol=1e-9, abs_tol=1e-3):
                return f'{row["name"]}: {key} is {have[key]}, not {value}'
    missing = {n for n, v in truth.values.items() if sum(v)} - {r['name'] for r in got['rows']}
    return f'no row for {missing}' if missing else ''


def check_chance(got, truth):
    """By the exact distribution, but for what is as good as one in twenty."""
    for row in got['rows']:
        have = row['spread']['cpu-time']
        if have['mean'] < 1.1e6 or have['range'] == 0:
            continue
        p = truth.chance(row['name'])
        if abs(p - 0.05) > 0.003 and have['chance'] != (p > 0.05):
            return f'{row["name"]}: chance is {have["chance"]} at p = {p:.4f}'
    return ''


def check_steady(got):
    """One in twenty of what is steady may be taken for a change, and not many more."""
    steady = [r['spread']['cpu-time']['chance'] for r in got['rows'] if 'steady' in r['name']]
    wrong = steady.count(False)
    return f'{wrong} of {len(steady)}' if wrong > 0.1 * len(steady) else ''


def check_planted(got):
    first = [r['name'] for r in got['rows'][:3]]
    return '' if set(PLANTED) <= set(first) | {r['name'] for r in got['rows'][:12]} and \
        'once' in first else f'first are {first}'


def main():
    dwell, mkrecording = os.path.abspath(sys.argv[1]), sys.argv[2]
    rng = random.Random(1997)
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f'{i}.dwell') for i in range(RUNS)]
        for i, path in enumerate(paths):
            write_run(mkrecording, path, rng, i)
        for option in '', ' --share':
            got = report(dwell, 'stats' + option, *paths)
            truth = Truth(dwell, paths, option != '')
            cases += [('the numbers are those of statistics' + option, check_numbers(got, truth)),
                      ('chance is what chi-square says' + option, check_chance(got, truth)),
                      ('what is steady is taken for chance' + option, check_steady(got)),
                      ('what was planted comes first' + option, check_planted(got))]
    print(f'1..{len(cases)}')
    for i, (name, why) in enumerate(cases, 1):
        print(f'{"not " if why else ""}ok {i} - {name}')
        if why:
            print('# ' + why)


if __name__ == '__main__':
    main()
