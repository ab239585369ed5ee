#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Events of a CPU's own counters, sampled in a machine that is emulated: of a program that
the kernel counts meanwhile, dwell is to find the same.  Time there is made of instructions,
one nanosecond and one cycle each, so numbers do not depend on how busy this machine is.

usage: counters.py DWELL MACHINE PROGRAM_DIR SYSROOT... [-- WORD...]	(of tests' names)"""
import functools
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))
# pylint: disable=wrong-import-position
from harness import test
from inside import Daemon, done, main, of, report, run

OPTIONS = ('-cpu', 'max,pauth-impdef=on', '-smp', '1', '-icount', 'shift=0,sleep=off')
# Instructions of a round, of two a step; and what a sample is of.  Where several counters
# overflow the emulator notices some of it when the kernel is entered next, which is 4 million
# later at worst: such periods are longer, and a sample may be of what comes after its cause.
# A round is 28.7 million, the golden ratio more than two periods, so none keeps in step.
ALPHA, BETA = 14000000, 6000000
PERIOD, FAST = 10957003, 2000003
LATE = 4000000
ROUNDS = 60


def known(events='', rounds=ROUNDS):
    return json.loads(done(f'known {rounds} {events}'))


@functools.cache
def truth(event):
    """What the kernel counts of a round, of each part: while nobody samples, as more counters
    would be used then."""
    return {part: n / ROUNDS for part, n in known(event)[event].items()}


def is_true(r, event, rounds, share=0.05, late=0):
    for part, n in truth(event).items():
        near(of(r, part, event), n * rounds, share + late / n)
    near(r['total'][event], sum(truth(event).values()) * rounds, share)


def near(got, want, share=0.05):
    assert abs(got / want - 1) < share, (got, want)


def daemon(*options):
    """One that has met the program, and has the rules of its code."""
    return Daemon(*options, before='known 10')


@test
def the_emulated_counters_are_exact():
    got = known('cycles:u instructions:u', 10)
    for counts in got.values():
        near(counts['alpha'], 10 * ALPHA, 0.001)
        near(counts['beta'], 10 * BETA, 0.001)
        assert counts['gamma_reads'] < 10 * ALPHA / 100, counts


@test
def counters_that_it_has_are_listed():
    for event in ('cycles', 'instructions'):
        assert run(f'dwell run -n -e {event} true').code == 0, event
    p = run('dwell run -e branch-misses true 2>&1')
    assert p.code != 0 and 'not offered by this CPU' in p.text, p.text


@test
def a_program_is_sampled_by_its_cycles():
    done(f'dwell run -q -e cycles:{FAST} -o /tmp/own.dwell known {ROUNDS}')
    r = report('/tmp/own.dwell')
    is_true(r, 'cycles', ROUNDS)
    # Compiled without frame pointers: its callers are there all the same.
    assert of(r, 'outer') == of(r, 'alpha'), r['rows'][:10]
    near(of(r, 'main'), r['total']['cycles'], 0.02)
    assert r['quality']['truncated']['cycles']['total'] == 0, r['quality']


def counts(words):
    """The first number of each line, by what stands behind it."""
    rows = [line.split() for line in done(f'dwell count {words} 2>&1').splitlines()]
    return {row[1]: int(row[0].replace(',', '')) for row in rows
            if len(row) > 1 and row[0].replace(',', '').isdigit()}


@test
def user_code_and_the_kernel_are_told_apart():
    done(f'dwell run -q -e cycles:u:{FAST} -o /tmp/user.dwell known {ROUNDS}')
    r = report('/tmp/user.dwell')
    near(of(r, 'alpha', 'cycles:u'), ALPHA * ROUNDS)
    near(of(r, 'beta', 'cycles:u'), BETA * ROUNDS)
    assert of(r, 'gamma_reads', 'cycles:u') < 0.01 * ALPHA * ROUNDS, r['rows'][:10]
    got = counts('-e cycles:u,cycles:k,cycles known 20')
    near(got['cycles:u'] + got['cycles:k'], got['cycles'], 0.01)
    near(got['cycles:u'], 20 * (ALPHA + BETA), 0.03)


@test
def numbers_of_the_manual_and_names_of_the_device_are_the_same():
    names = ('cycles:u', 'r11:u', 'armv8_pmuv3/cpu_cycles/u', 'armv8_pmuv3/event=0x11/u')
    got = counts(f'-e {",".join(names)} known 20')
    for name in names:
        near(got[name], 20 * (ALPHA + BETA), 0.03)


@test
def more_counters_than_the_cpu_has_are_refused_for_a_program_and_take_turns_on_cpus():
    where = ('', ':u', ':k', ':uk')
    names = [f'cycles{m}' for m in where] + [f'r11{m}' for m in where]
    done(f'dwell run -q -e {",".join(names[:4])} -o /tmp/some.dwell known 1')
    p = run(f'dwell run -q -e {",".join(names)} -o /tmp/all.dwell known 1 2>&1')
    assert p.code != 0 and 'too few counters' in p.text, p.text
    with daemon('-e', ','.join(f'{n}:{PERIOD}' for n in names)) as d:
        known()
        shares = d.report('known')['quality']['on_share']
    assert len(shares) == len(names) and min(shares.values()) < 0.9, shares


@test
def whole_cpus_are_sampled_by_cycles_and_stacks_are_complete():
    with daemon('-e', f'cycles:{FAST}') as d:
        known()
        r = d.report('known')
        delivered, counted = d.facts('delivered'), d.facts('counted')
    is_true(r, 'cycles', ROUNDS)
    assert of(r, 'outer') == of(r, 'alpha'), r['rows'][:10]
    near(of(r, 'main'), r['total']['cycles'], 0.02)
    near(delivered['cycles'] * FAST, counted['cycles'], 0.01)


@test
def several_counters_are_columns_each_with_its_own_truth():
    with daemon('-e', f'cycles:{PERIOD},instructions:{PERIOD},page-faults:1') as d:
        known(rounds=2 * ROUNDS)
        r = d.report('known')
    for event in ('cycles', 'instructions'):
        is_true(r, event, 2 * ROUNDS, late=LATE)
    assert of(r, 'main', 'page-faults') >= 256, r['total']  # one for each page of its memory
    assert of(r, 'alpha', 'page-faults') == 0


@test
def a_counter_of_instructions_tells_how_often_code_was_executed():
    rounds = 2 * ROUNDS
    done(f'dwell run -q -e usertime,instructions:u:{PERIOD} -o /tmp/often.dwell known {rounds}')
    row, = json.loads(done('dwell calc --json alpha /tmp/often.dwell'))['rows']
    loop = max(row['blocks'], key=lambda b: b['times'])
    near(loop['times'], ALPHA / 2 * rounds, 0.05 + LATE / ALPHA)
    assert loop['confidence'] == 'medium' and loop['times_low'] < loop['times'] < loop['times_high'], loop
    assert 100 < row['retired_samples'] < 200, row


def taken(function, mnemonic):
    """How often a function's branch was seen to be taken, and not to be, and not seen."""
    row, = json.loads(done(f'dwell calc --json {function} /tmp/forks.dwell'))['rows']
    block, = [b for b in row['blocks'] if b['instructions'][-1]['mnemonic'] == mnemonic]
    seen = {way['kind']: way['seen'] for way in block['ways']}
    return seen['taken'], seen['on'], block['not_seen']


@test
def registers_tell_which_way_branches_go():
    truth_of = json.loads(done('dwell run -q --insn -e usertime -i 50us -o /tmp/forks.dwell forks'))
    for function, mnemonic in (('by_flags', 'b.lo'), ('by_bit', 'tbnz'), ('by_zero', 'cbz'), ('by_both', 'b.lo')):
        yes, no, unknown = taken(function, mnemonic)
        assert yes + no > 2000 and unknown < (yes + no) / 8, (function, yes, no, unknown)
        assert abs(yes / (yes + no) - truth_of[function] / truth_of['turns']) < 0.05, (function, yes, no, truth_of)


@test
def counters_that_take_turns_are_scaled():
    with daemon('-e', f'cycles:{FAST},stalled-cycles-backend,page-faults:1', '--multiplex', '1') as d:
        known(rounds=3 * ROUNDS)
        r = d.report('known')
    shares = r['quality']['on_share']
    near(sum(shares.values()), 1, 0.02)
    assert all(0.2 < share < 0.47 for share in shares.values()), shares
    # Seen for a third of the time, in some twenty turns, and code that repeats itself.
    is_true(r, 'cycles', 3 * ROUNDS, 0.2)


sys.exit(main(OPTIONS, ('known', 'forks')))
