#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several events sampled on the whole machine, all at once or in turns: what is said of a
program whose numbers are known.
usage: events.py DWELL PROGRAM_DIR"""
import os
import shutil
import signal
import subprocess
import sys
import time

import harness
from daemons import Daemon, daemon
from harness import DIR, DWELL, TESTS, Skip, dwell, run_all, skip_all, test

# Others may run it at the same time: ours has a name of its own.
NAME = f'counted{os.getpid()}'
COUNTED = os.path.join(DIR, NAME)
FAULTS = 256  # of a round


def run_counted(rounds):
    """Its resource usage, by the kernel's account.  Nobody takes much of its CPU."""
    child = subprocess.Popen(['nice', '-n', '-20', COUNTED, str(rounds)])
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    return usage


def report(d, *options):
    path = d.segments()[-1]
    return harness.report(path, '--filter', f'command == {NAME}', *options)


def fact(r, name, event):
    return [f['value'] for f in r['quality']['facts']
            if f['name'] == name and f.get('event') == event][0]


def meet(d):
    """The rules of its code are loaded, and what was taken meanwhile is another segment's."""
    run_counted(100)
    d.done('flush')


@test
def events_are_columns_each_with_its_own_truth():
    with daemon('-e', 'cpu-clock@1000,page-faults:1,context-switches:1') as d:
        meet(d)
        usage = run_counted(400)
        d.done('flush')
        r = report(d)
    total = r['total']
    names = [e['name'] for e in r['events']]
    assert names == ['cpu-time', 'context-switches', 'page-faults'], names
    assert abs(total['page-faults'] / usage.ru_minflt - 1) < 0.01, (total, usage)
    switches = usage.ru_nvcsw + usage.ru_nivcsw
    assert abs(total['context-switches'] / switches - 1) < 0.02, (total, usage)
    touched = harness.total_of(r, 'touch', 'exclusive', 'page-faults')
    assert abs(touched / (400 * FAULTS) - 1) < 0.01, touched
    naps = harness.total_of(r, 'nap', 'inclusive', 'context-switches')
    assert 400 * 0.98 <= naps <= switches, naps
    assert harness.total_of(r, 'burn', 'inclusive', 'cpu-time') > 0
    assert harness.total_of(r, 'burn', 'inclusive', 'page-faults') == 0


@test
def a_sample_stands_for_its_period():
    with daemon('-e', 'page-faults:7,task-clock:1ms') as d:
        meet(d)
        usage = run_counted(2000)
        d.done('flush')
        r = report(d)
        assert 'one each' not in d.done('status')
    assert {e['name']: e['period'] for e in r['events']} == {'page-faults': 7,
                                                             'task-clock': 1000000}
    assert abs(r['total']['page-faults'] / usage.ru_minflt - 1) < 0.02, (r['total'], usage)
    used = (usage.ru_utime + usage.ru_stime) * 1e9
    assert abs(r['total']['task-clock'] / used - 1) < 0.05, (r['total'], used)
    # What the kernel counted of all is what the samples stand for.
    delivered, counted = fact(r, 'delivered', 'page-faults'), fact(r, 'counted', 'page-faults')
    assert abs(delivered * 7 / counted - 1) < 0.02, (delivered, counted)


@test
def events_that_take_turns_are_scaled_and_say_so():
    with daemon('-e', 'task-clock@1000,page-faults:7', '--multiplex', '1') as d:
        meet(d)
        usage = run_counted(5000)  # more than a hundred turns
        d.done('flush')
        path = d.segments()[-1]
        r = report(d)
        text = dwell('report', path).stdout
    shares = r['quality']['on_share']
    assert abs(sum(shares.values()) - 1) < 0.01, shares
    assert all(0.35 < s < 0.65 for s in shares.values()), shares
    # About half of it was seen, and what was not differs a little.
    ratio = r['total']['page-faults'] / usage.ru_minflt
    assert 0.85 < ratio < 1.15, (ratio, shares)
    delivered, counted = fact(r, 'delivered', 'page-faults'), fact(r, 'counted', 'page-faults')
    assert abs(delivered * 7 / counted - 1) < 0.02, (delivered, counted)
    # Scaled by the share that is told.
    scaled = harness.report(path)['total']['page-faults']
    again = delivered * 7 / shares['page-faults']
    assert 0.9 < scaled / again < 1.1, (scaled, again, shares)
    assert 'took turns' in text and 'scaled' in text, text


@test
def segments_of_several_events_are_one_database_without_scales():
    with daemon('-e', 'cpu-clock@1000,page-faults:7') as d:
        meet(d)
        run_counted(100)
        d.done('flush')
        db, paths = d.db, d.segments()
    one = [harness.report(p)['total'] for p in paths]
    assert 'on_share' not in harness.report(paths[-1])['quality']
    whole = harness.report(db, '--db')['total']
    for event in ('cpu-time', 'page-faults'):
        assert whole[event] == sum(t[event] for t in one), (event, whole, one)


@test
def what_this_machine_cannot_count_is_told_in_a_line():
    for event, reason in (('page-fautls', "did you mean 'page-faults'"),
                          ('page-faults@97', 'does not measure time'),
                          ('cpu-clock,cpu-time', 'asked for twice'),
                          ('sched:sched_switch', 'tracepoints are not sampled')):
        d = Daemon('-e', event)
        assert d.child.wait(60) == 2, event
        text = d.child.stderr.read()
        assert reason in text and text.count('\n') <= 2, text
    listed = dwell('list').stdout
    if 'cycles  ' in listed and 'not offered by this CPU' in listed:
        d = Daemon('-e', 'cycles')
        assert d.child.wait(60) != 0
        text = d.child.stderr.read()
        assert 'cycles: not offered by this CPU' in text and text.count('\n') == 1, text


@test
def a_program_by_itself_is_sampled_by_what_it_does():
    path = os.path.join(DIR, 'own.dwell')
    p = dwell('run', '-q', '-e', 'page-faults:7', '-e', 'context-switches:1', '-o', path, '--',
              COUNTED, '400')
    assert p.returncode == 0, p.stderr
    r = harness.report(path)
    got = {e['name']: e for e in r['events']}
    assert {n: e['period'] for n, e in got.items()} == {'page-faults': 7, 'context-switches': 1}
    touched = harness.total_of(r, 'touch', 'exclusive', 'page-faults')
    assert abs(touched / (400 * FAULTS) - 1) < 0.01, touched
    naps = harness.total_of(r, 'nap', 'inclusive', 'context-switches')
    assert 400 * 0.98 <= naps <= r['total']['context-switches'], naps
    # What the kernel counted of all is what the samples stand for.
    delivered, counted = fact(r, 'delivered', 'page-faults'), fact(r, 'counted', 'page-faults')
    assert 0 <= counted - delivered * 7 < 7 * 2, (delivered, counted)


@test
def a_part_of_what_happens_is_counted_where_it_is_asked_for():
    path = os.path.join(DIR, 'modes.dwell')
    p = dwell('run', '-q', '-e', 'page-faults:u:7,page-faults:k:1,page-faults:7', '-o', path, '--',
              COUNTED, '400')
    assert p.returncode == 0, p.stderr
    total = harness.report(path)['total']
    # Nearly all are the program's own, few are made by the kernel for it.
    assert abs(total['page-faults:u'] / (400 * FAULTS) - 1) < 0.02, total
    assert total['page-faults:k'] < 400, total
    assert abs((total['page-faults:u'] + total['page-faults:k']) / total['page-faults'] - 1) < 0.01, total


@test
def events_of_a_device_are_found_by_its_own_names():
    if not os.path.exists('/sys/bus/event_source/devices/msr/events/tsc'):
        raise Skip('no msr device here')
    p = dwell('count', '-e', 'msr/tsc/,task-clock,msr/event=0/', '--', COUNTED, '50')
    lines = [line for line in p.stderr.splitlines() if 'msr/' in line]
    counts = [int(line.split()[0].replace(',', '')) for line in lines]
    assert len(counts) == 2 and counts[0] > 1e6, p.stderr
    assert abs(counts[1] / counts[0] - 1) < 0.2, p.stderr
    p = dwell('count', '-e', 'msr/event=x/', '--', 'true')
    assert p.returncode == 2 and 'no number' in p.stderr, p.stderr
    p = dwell('run', '-e', 'msr/nothing/', '--', 'true')
    assert p.returncode == 2 and "no event and no term 'nothing'" in p.stderr, p.stderr


@test
def recordings_of_the_whole_machine_have_events_too():
    path = os.path.join(DIR, 'events.dwell')
    child = subprocess.Popen([DWELL, 'attach', '-a', '--source', 'system', '-q', '-e',
                              'usertime@1000', '-e', 'page-faults:7', '-o', path])
    deadline = time.time() + 60
    while not (os.path.exists(path) and os.path.getsize(path) > 64):
        assert child.poll() is None and time.time() < deadline
        time.sleep(0.02)
    time.sleep(1)
    usage = run_counted(600)
    child.send_signal(signal.SIGINT)
    child.wait(60)
    r = harness.report(path, '--filter', f'command == {NAME}')
    assert abs(r['total']['page-faults'] / usage.ru_minflt - 1) < 0.02, (r['total'], usage)
    used = (usage.ru_utime + usage.ru_stime) * 1e9
    assert abs(r['total']['cpu-time'] / used - 1) < 0.1, (r['total'], used)


def main():
    why = harness.why_no_bpf()
    if why:
        return skip_all(why)
    shutil.copy(os.path.join(sys.argv[2], 'e2e-counted'), COUNTED)
    return run_all(TESTS, words=sys.argv[3:])


sys.exit(main())
