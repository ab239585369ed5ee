#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests of io_uring: compared with what the ring showed to the program that made them.
usage: io_uring.py DWELL PROGRAM_DIR"""
import json
import os
import subprocess
import sys

import harness
from harness import DIR, IS_ROOT, TESTS, Skip, dwell, report, run_all, skip_all, test
from io_recording import FILE, record, rows

REQUESTS = os.path.join(os.path.abspath(sys.argv[2]), 'e2e-io_uring')
MANY = os.path.join(DIR, 'many')
PREFIX = 'io_uring '


def told_by_ring(mode, *options):
    """{operation: (calls, errors, bytes)}, of a recording of the program"""
    text = record(REQUESTS, mode, MANY, options=options).decode()
    assert text, mode
    told = {}
    for line in text.splitlines():
        name, *numbers = line.split()
        told[name] = tuple(map(int, numbers))
    return told


def told_by_dwell(*options):
    return {name.removeprefix(PREFIX): (r['calls'], r['errors'], r['read_bytes'] + r['written_bytes'])
            for name, r in rows('call', *options).items() if name.startswith(PREFIX)}


def may_run(mode):
    if subprocess.run([REQUESTS, mode, MANY], check=False, timeout=60,
                      stdout=subprocess.DEVNULL).returncode == 77:
        raise Skip(f'this kernel has no such requests: {mode}')


def same_as_ring(mode):
    may_run(mode)
    told = told_by_ring(mode)
    got = told_by_dwell()
    assert got == told, (got, told)
    return told


def of_file(name=MANY):
    return rows('file', '--filter', f'function == "{name}"')[name]


@test
def files_are_read_and_written_to_the_byte():
    same_as_ring('plain')
    r = of_file()
    # 100 of 1000, a list of 100, a registered buffer of 5000
    assert r['written_bytes'] == 100 * 1000 + 100 + 5000, r
    assert r['read_bytes'] == 100 * 1000 + 100 + 5000, r
    assert r['asked_bytes'] == 100 * 1000 + 3 * 65536 + 2 * 100 + 2 * 5000, r
    sizes = {s['from']: s['calls'] for s in r['sizes']}
    assert sizes == {512: 100, 65536: 1, 32768: 1, 0: 1, 64: 2, 4096: 2}, r


@test
def a_bad_descriptor_is_an_error_of_no_file():
    same_as_ring('plain')
    p = dwell('report', '--event', 'io-errors', '--json', FILE)
    names = {row['name'] for row in json.loads(p.stdout)['rows']}
    assert {'[EBADF]', '[EINVAL]', '[io_uring read]', '[no file]'} <= names, names


@test
def registered_files_are_the_files_that_they_are():
    same_as_ring('registered')
    r = of_file()
    assert (r['written_bytes'], r['errors']) == (100 * 1000, 0), r


@test
def what_the_kernels_thread_submits_is_counted():
    same_as_ring('polled')
    assert of_file()['written_bytes'] == 100 * 1000
    threads = rows('thread', '--filter', f'function == "{MANY}"')
    assert any(name.startswith('iou-sqp-') for name in threads), threads


@test
def what_is_cancelled_by_a_link_is_an_error():
    told = same_as_ring('linked')
    assert told['write'][1] == 10, told


@test
def what_the_ring_does_not_show_is_counted():
    told = same_as_ring('silent')
    assert told['write'] == (10, 0, 0) and told['fsync'] == (1, 1, 0), told


@test
def what_comes_after_one_that_does_not_tell_is_not_taken_for_it():
    told = same_as_ring('replaced')
    r = rows('call')[PREFIX + 'write']
    assert told['write'] == (20, 0, 0) and r['ns'] == 0, (told, r)


@test
def what_has_no_room_in_the_ring_is_counted():
    for mode in ('crowded', 'mixed'):
        told = same_as_ring(mode)
        assert told['write'] == (320, 0, 32000), (mode, told)


@test
def what_is_opened_has_its_path():
    same_as_ring('opens')
    files = rows('file')
    assert files[MANY + '-missing']['errors'] == 7, files
    # Of calls, as well: it was created before.
    of_path = rows('call', '--filter', f'function == "{MANY}"')
    assert (of_path[PREFIX + 'openat']['calls'], of_path[PREFIX + 'close']['calls']) == (5, 5), of_path


@test
def sockets_and_pipes_are_counted_to_the_byte():
    same_as_ring('sockets')
    # It is read from the first.
    by_call = rows('call', '--filter', f'function == "{MANY}"')
    assert by_call[PREFIX + 'splice']['read_bytes'] == 2000, by_call


@test
def requests_that_complete_several_times_are_calls_each():
    told = same_as_ring('shots')
    # The last time it is cancelled.
    assert told['accept'] == (6, 1, 0) and told['recv'] == (21, 0, 600), told


@test
def a_request_takes_until_it_is_completed():
    same_as_ring('late')
    r = rows('call')[PREFIX + 'read']
    assert r['ns'] >= 500e6 and r['calls'] == 1, r
    assert r['durations_ns'][0]['from'] >= 2**28, r


@test
def no_request_takes_longer_than_it_was_observed():
    harness.run_in_steps(['-e', 'io', '--toggle', 'USR2', '-o', FILE], [REQUESTS, 'paused', MANY],
                         [('pause',), ('resume',)])
    r = rows('call')[PREFIX + 'read']
    assert r['calls'] == 1 and max(d['from'] for d in r['durations_ns']) <= r['ns'], r


@test
def a_request_that_is_not_completed_has_its_time():
    record(REQUESTS, 'forever', MANY)
    r = rows('call')[PREFIX + 'read']
    assert r['ns'] >= 400e6, r


@test
def stacks_are_of_those_who_submit():
    same_as_ring('plain')
    p = dwell('io', '--json', '--by', 'stack', '--filter', 'function == "[io_uring write]"', FILE)
    calls = {True: 0, False: 0}
    for row in json.loads(p.stdout)['rows']:
        names = [f['name'] for f in row['frames']]
        calls['finish' in names and 'main' in names] += row['calls']
    assert calls == {True: 100, False: 0}, calls


@test
def the_report_says_that_requests_are_not_seen_only_where_they_are_not():
    same_as_ring('plain')
    p = dwell('io', FILE)
    assert 'not seen' not in p.stdout, p.stdout


def kept_one_by_one():
    """(when it began, when it was over) of each request; with each call they are what was summed, to the ns"""
    events = {event: harness.samples_of(FILE, event) for event in ('io-time', 'each-io-call', 'each-io-request')}
    sums = {event: sum(int(x['weight']) for x in kept) for event, kept in events.items()}
    assert sums['each-io-call'] + sums['each-io-request'] == sums['io-time'], sums
    return sorted((int(x['time_ns']), int(x['time_ns']) + int(x['weight'])) for x in events['each-io-request'])


def check_each_operation():
    for name, r in rows('call').items():
        if name.startswith(PREFIX):
            kept = report(FILE, '--event', 'each-io-request', '--filter', f'function == "[{name}]"')
            assert kept['total'].get('each-io-request', 0) == r['ns'], (name, kept['total'], r)


@test
def each_request_is_kept_once_and_adds_up():
    for mode in ('plain', 'registered', 'polled', 'linked', 'crowded', 'mixed', 'opens', 'sockets', 'shots'):
        may_run(mode)
        told = told_by_ring(mode, '--trace')
        kept = kept_one_by_one()
        assert len(kept) == sum(calls for calls, _, _ in told.values()), (mode, len(kept), told)
        check_each_operation()


@test
def what_the_ring_does_not_show_is_kept_where_it_fails():
    # When those that succeeded did is not told.
    told_by_ring('silent', '--trace')
    assert len(kept_one_by_one()) == 10 + 1


@test
def what_is_not_completed_is_kept_until_the_end():
    record(REQUESTS, 'forever', MANY, options=['--trace'])
    ((begin, end),) = kept_one_by_one()
    assert end - begin >= 400e6, (begin, end)


@test
def no_request_is_kept_of_a_pause():
    harness.run_in_steps(['-e', 'io', '--trace', '--toggle', 'USR2', '-o', FILE], [REQUESTS, 'paused', MANY],
                         [('pause',), ('resume',)])
    kept = kept_one_by_one()
    # Before the pause and behind it.
    assert len(kept) == 2 and kept[0][1] < kept[1][0], kept


def flight():
    """What the program's own clock says of each of its requests, by when they began."""
    text = record(REQUESTS, 'flight', MANY, options=['--trace']).decode()
    return [tuple(map(int, line.split()[1:])) for line in text.splitlines() if line.startswith('flight ')]


@test
def each_request_is_where_it_was():
    clocked = flight()
    kept = kept_one_by_one()
    assert len(clocked) == len(kept) == 16, kept
    for (before, submitted, given, taken), (begin, end) in zip(clocked, kept):
        assert before <= begin <= submitted and given <= end <= taken, (before, submitted, given, taken, begin, end)
    assert max(begin for begin, _ in kept) < min(end for _, end in kept), kept


@test
def what_overlaps_is_drawn_beside_threads():
    flight()
    kept = kept_one_by_one()
    out = os.path.join(DIR, 'trace.json')
    assert dwell('export', 'chrome', '-o', out, FILE).returncode == 0
    with open(out, encoding='utf-8') as f:
        events = json.load(f)['traceEvents']
    begins = {x['id']: x for x in events if x['ph'] == 'b'}
    ends = {x['id']: x for x in events if x['ph'] == 'e'}
    assert begins.keys() == ends.keys() and len(begins) == len(kept), (begins, ends)
    drawn = sorted((x['ts'], ends[i]['ts']) for i, x in begins.items())
    first = drawn[0][0] * 1e3 - kept[0][0]
    for (begin, end), (ts, to) in zip(kept, drawn):
        assert abs(ts * 1e3 - first - begin) < 100 and abs(to * 1e3 - first - end) < 100, (begin, end, ts, to)
    for x in begins.values():
        assert x['name'] == '[io_uring read]' and x['args']['of'].startswith('pipe:'), x
        assert {'finish', 'main'} <= set(x['args']['stack']), x
    # The thread does something else meanwhile.
    assert not [x for x in events if x['ph'] == 'X' and 'io_uring read' in x['name']]


@test
def the_text_has_what_is_under_way_beneath():
    flight()
    kept = sum(end - begin for begin, end in kept_one_by_one())
    drawn = json.loads(dwell('timeline', '--json', FILE).stdout)['rows']
    (under_way,) = [r for r in drawn if r['of'] == 'value' and r['name'] == 'requests']
    cell_ns = (under_way['to_ns'] - under_way['from_ns']) / len(under_way['cells'])
    assert abs(sum(under_way['cells']) * cell_ns - kept) < 0.01 * kept, (under_way, kept)
    assert under_way['most'] > 1, under_way
    # Threads that sleep meanwhile are not in them.
    (thread,) = [r for r in drawn if r['of'] == 'thread']
    assert thread['ns'].get('io', 0) < 0.1 * kept, (thread, kept)


if __name__ == '__main__':
    if not IS_ROOT:
        sys.exit(skip_all('only root may load BPF programs'))
    if not harness.may_record('io', 'io'):
        sys.exit(skip_all(dwell('run', '-n', '-e', 'io', '--', 'true').stderr.strip()))
    if subprocess.run([REQUESTS, 'plain', MANY], check=False, timeout=60,
                      stdout=subprocess.DEVNULL).returncode == 77:
        sys.exit(skip_all('this kernel has no io_uring, or does not let us (kernel.io_uring_disabled)'))
    sys.exit(run_all(TESTS, words=sys.argv[3:]))
