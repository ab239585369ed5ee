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
from daemons import Daemon, daemon, without_bpf
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
    # A round takes about 1 ms: a clock of the same period would meet it always at one place.
    with daemon('-e', 'page-faults:7,task-clock:170us') as d:
        meet(d)
        usage = run_counted(2000)
        d.done('flush')
        r = report(d)
        assert 'one each' not in d.done('status')
    assert {e['name']: e['period'] for e in r['events']} == {'page-faults': 7,
                                                             'task-clock': 170000}
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
def without_bpf_events_are_columns_with_the_same_truth():
    with daemon('-e', 'cpu-clock@199,page-faults:101,context-switches:1', prefix=without_bpf()) as d:
        for _ in range(2):  # of the second recording, what came before is not told again
            before = d.status()['lost']
            usage = run_counted(400)
            d.done('flush')
            r, whole, lost = report(d), harness.report(d.segments()[-1]), d.status()['lost'] - before
            assert {e['name']: e['period'] for e in r['events']} == {
                'cpu-time': 10**9 // 199, 'page-faults': 101, 'context-switches': 1}
            got, switches = r['total'], usage.ru_nvcsw + usage.ru_nivcsw
            # Its last is not in its usage, and some are still called as who started it.
            assert 0.98 * switches - 5 - lost < got['context-switches'] < 1.02 * switches + 5, (got, usage, lost)
            # Who runs beside it may have a sample of its faults, or the other way round.
            assert 0.8 * usage.ru_minflt - lost * 101 < got['page-faults'] < 1.2 * usage.ru_minflt, (got, usage, lost)
            delivered, counted = fact(whole, 'delivered', 'page-faults'), fact(whole, 'counted', 'page-faults')
            assert whole['total']['page-faults'] == delivered * 101, (whole['total'], delivered)
            # Of each CPU a period may have begun before, and one goes on.
            slack = (2 * os.cpu_count() + lost) * 101 + 0.01 * counted
            assert abs(counted - delivered * 101) <= slack, (counted, delivered, lost)
            assert harness.total_of(r, 'burn', 'inclusive', 'page-faults') == 0
        d.quit()


def has_rate(*options, **more):
    """Events whose periods follow what happens stand for what is counted, as a whole and of
    a program."""
    rates = {'page-faults': 5, 'minor-faults': 2000}
    with daemon('-e', ','.join(f'{event}@{hz}' for event, hz in rates.items()), *options, **more) as d:
        meet(d)
        lost, begin = d.status()['lost'], time.time()
        usage = run_counted(1000)
        ran = time.time() - begin
        d.done('flush')
        r, whole, status = report(d), harness.report(d.segments()[-1]), d.status()
        d.quit()
    assert {e['name']: e['period'] for e in r['events']} == {'page-faults': 0, 'minor-faults': 0}
    assert 'a counter has a rate' in status['unkept'] or more, status['unkept']
    for event in rates:
        counted, delivered = fact(whole, 'counted', event), fact(whole, 'delivered', event)
        assert counted >= usage.ru_minflt and delivered > 0, (event, counted, usage)
        mean = counted / delivered
        if more:  # Of each CPU what has come since its last sample.
            due, slack = counted, 0.01 * counted + 2 * os.cpu_count() * mean
        else:  # That is told: the next segment's samples stand for it, as these do for the last one's.
            before, after = (fact(whole, f'unsampled-{when}', event) for when in ('before', 'after'))
            due, slack = counted + before - after, 0.001 * counted
            # Of each CPU a period at most, twice what the rate asks for, and what came with the end.
            longest = 2 * usage.ru_minflt / ran / rates[event]
            assert after <= os.cpu_count() * longest + 0.05 * counted, (event, before, after, longest, delivered)
        assert abs(whole['total'][event] - due) <= slack, (event, whole['total'], due, counted, delivered)
    assert fact(whole, 'requested-rate', 'page-faults') == 5
    # They are the same events: the lower rate has the longer period.
    assert fact(whole, 'delivered', 'page-faults') < delivered, whole['quality']['facts']
    total, more_lost = r['total']['minor-faults'], (status['lost'] - lost) * mean
    assert abs(total - usage.ru_minflt) < 0.1 * usage.ru_minflt + 3 * more_lost, (total, usage, more_lost)
    touched = harness.total_of(r, 'touch', 'inclusive', 'minor-faults')
    assert touched > 0.95 * total, (touched, total)


@test
def a_rate_may_be_asked_for_and_samples_stand_for_what_is_counted():
    has_rate()


@test
def a_rate_may_be_asked_for_without_bpf():
    has_rate(prefix=without_bpf())


@test
def software_events_of_a_program_have_no_rate_and_it_is_told():
    p = dwell('run', '-e', 'page-faults@50', '-o', os.path.join(DIR, 'rate.dwell'), '--', COUNTED, '1')
    assert p.returncode == 1 and 'page-faults:101' in p.stderr and p.stderr.count('\n') == 1, p


@test
def what_cannot_be_done_without_bpf_is_told_in_a_line():
    for words, reason in ((('-e', 'page-faults:7,cpu-clock', '--multiplex', '1'), 'take turns only where'),
                          (('-e', 'trigger:sched:sched_process_fork'), 'trigger: '),
                          (('-e', 'cpu-clock,states'), 'states: ')):
        d = Daemon(*words, prefix=without_bpf())
        assert d.child.wait(60) == 1, words
        text = d.child.stderr.read()
        assert reason in text and 'BPF' in text and text.count('\n') == 1, text


@test
def what_this_machine_cannot_count_is_told_in_a_line():
    for event, reason in (('page-fautls', "did you mean 'page-faults'"),
                          ('page-faults@0', 'is not within'),
                          ('syscalls@97', 'does not measure time'),
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


def recorded_of_the_machine(*options):
    """What a recording of the whole machine says of the program, and the kernel."""
    path = os.path.join(DIR, 'events.dwell')
    child = subprocess.Popen([DWELL, 'attach', '-a', '--source', 'system', '-q', '-e',
                              'usertime@5200', *options, '-o', path])
    deadline = time.time() + 60
    while not (os.path.exists(path) and os.path.getsize(path) > 64):
        assert child.poll() is None and time.time() < deadline
        time.sleep(0.02)
    time.sleep(1)
    usage = run_counted(1500)
    child.send_signal(signal.SIGINT)
    child.wait(60)
    r = harness.report(path, '--filter', f'command == {NAME}')
    os.unlink(path)
    return r, usage


@test
def recordings_of_the_whole_machine_have_events_too():
    def share(r, usage):
        return r['total']['cpu-time'] / ((usage.ru_utime + usage.ru_stime) * 1e9)

    shares = []
    for _ in range(4):
        alone, beside = recorded_of_the_machine(), recorded_of_the_machine('-e', 'page-faults:7')
        faults = beside[0]['total']['page-faults']
        assert abs(faults / beside[1].ru_minflt - 1) < 0.02, (faults, beside[1])
        assert beside[0]['quality']['lost'] == 0, beside[0]['quality']
        # How much of short turns between waits a clock meets is this machine's, and changes.
        shares.append((share(*beside), share(*alone)))
        if abs(shares[-1][0] / shares[-1][1] - 1) < 0.1:
            return
    raise AssertionError(shares)


def main():
    why = harness.why_no_bpf()
    if why:
        return skip_all(why)
    shutil.copy(os.path.join(sys.argv[2], 'e2e-counted'), COUNTED)
    return run_all(TESTS, words=sys.argv[3:])


sys.exit(main())
