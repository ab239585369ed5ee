#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The heap of real programs: every call counted, by the stack that made it, as valgrind
counts them and as programs of known truth make them.
usage: heap.py DWELL WORKLOAD_DIR PROGRAM_DIR [WORD...]"""
import json
import os
import re
import subprocess
import sys
import tempfile

import harness
from harness import DIR, Skip, dwell, fact, need, report, run_all, test, total_of

WORKLOADS, PROGRAMS = (os.path.abspath(p) for p in sys.argv[2:4])
CALLS, THREADS = (os.path.join(PROGRAMS, f'e2e-heap_{x}') for x in ('calls', 'threads'))


def record(name, *command, code=0, run=(), **more):
    path = os.path.join(DIR, f'{name}.dwell')
    run = ('-e', 'heap', *run) if '-e' not in run else run
    p = dwell('run', *run, '-o', path, '--', *command, **more)
    assert p.returncode == code, (p.returncode, p.stderr)
    return path, p


def heap(path, *args):
    p = dwell('heap', '--json', *args, path)
    assert p.returncode == 0, p.stderr
    return json.loads(p.stdout)


def process(path, nth=0):
    """What is known of a process' whole heap, the one with the largest peak first."""
    return heap(path)['processes'][nth]


def loss(path, name):
    return fact(report(path), name, 'loss') or 0


def check_complete(path):
    for name in 'lost-events', 'damaged-records', 'unmatched-frees', 'unseen-frees':
        assert not loss(path, name), (name, loss(path, name))


def check_lossless(path):
    check_complete(path)
    assert not loss(path, 'truncated-stacks'), loss(path, 'truncated-stacks')


def counts(path, event):
    """By function that called the allocator."""
    return {row['name']: row['exclusive'][event] for row in report(path)['rows']
            if row['exclusive'].get(event)}


def valgrind(*command, **more):
    """(allocations, frees, bytes, blocks left, bytes left), without what it has the
    libraries give back at the end."""
    p = subprocess.run(['valgrind', '--run-libc-freeres=no', '--run-cxx-freeres=no', *command],
                       capture_output=True, text=True, timeout=300, check=True, **more)
    usage = re.search(r'total heap usage: ([\d,]+) allocs, ([\d,]+) frees, ([\d,]+) bytes', p.stderr)
    left = re.search(r'in use at exit: ([\d,]+) bytes in ([\d,]+) blocks', p.stderr)
    n = [int(x.replace(',', '')) for x in (*usage.groups(), left[2], left[1])]
    return tuple(n)


def check_as_valgrind(name, *command, **more):
    need('valgrind', command[0])
    want = valgrind(*command, **more)
    path, _ = record(name, *command, **more)
    check_lossless(path)
    p = process(path)
    got = tuple(p[k] for k in ('heap-allocations', 'heap-frees', 'heap-allocated',
                               'heap-left-blocks', 'heap-left'))
    assert got == want, (got, want)


@test
def a_C_program_is_counted_as_valgrind_counts_it():
    check_as_valgrind('c', os.path.join(WORKLOADS, 'heap'), '200000')


@test
def a_Cplusplus_program_is_counted_as_valgrind_counts_it():
    check_as_valgrind('cc', os.path.join(WORKLOADS, 'churn'), '20000')


@test
def sqlite_is_counted_as_valgrind_counts_it():
    check_as_valgrind('sqlite', 'sqlite3', ':memory:',
                      'create table t(a,b); with recursive c(x) as (select 1 union all '
                      'select x+1 from c where x<20000) insert into t select x,hex(x) from c; '
                      'select count(*),sum(a) from t group by a%7;')


@test
def perl_is_counted_as_valgrind_counts_it_where_it_has_as_many_variables():
    need('valgrind', 'perl')
    env = {'PATH': os.environ['PATH'], 'PERL_HASH_SEED': '0', 'PERL_PERTURB_KEYS': '0'}
    said = ('perl', '-e', 'my %h; $h{$_ % 100} = $_ for 1..2000; print scalar keys %ENV')
    by_valgrind = subprocess.run(['valgrind', '-q', *said], env=env, capture_output=True, text=True, check=True)
    _, by_dwell = record('variables', *said, env=env)
    more = {f'V{i}': '' for i in range(int(by_valgrind.stdout) - int(by_dwell.stdout))}
    path, _ = record('perl', *said, env={**env, **more})
    check_lossless(path)
    p = process(path)
    got = tuple(p[k] for k in ('heap-allocations', 'heap-frees', 'heap-left-blocks'))
    n, frees, _, left, _ = valgrind(*said, env=env)
    assert got == (n, frees, left), (got, n, frees, left, more)


@test
def a_recording_ends_with_the_reports_of_what_was_recorded():
    told = lambda p: [line.split(': next: ')[1] for line in p.stderr.splitlines() if line.startswith('dwell: next: ')]
    path, p = record('next', CALLS, 'calls', run=('-e', 'usertime,heap,sync'))
    assert told(p) == [f'dwell {verb} {path}' for verb in ('report', 'heap', 'sync')], p
    for line in told(p):
        p = dwell(*line.split()[1:])
        assert p.returncode == 0 and p.stdout, (line, p)
    # No wrapper can be loaded into it.
    path, p = record('next_static', os.path.join(PROGRAMS, 'e2e-visited-static'), run=('-e', 'usertime,heap'),
                     stdin=subprocess.DEVNULL)
    assert 'not recorded: heap' in p.stderr and told(p) == [f'dwell report {path}'], p


@test
def leaks_are_where_they_were_made():
    path, _ = record('leaks', os.path.join(WORKLOADS, 'heap'), '100000')
    check_lossless(path)
    bytes_, blocks = counts(path, 'leaked-bytes'), counts(path, 'leaks')
    assert bytes_['leak_small'] == 100000 and bytes_['leak_big'] == 100000, bytes_
    assert blocks['leak_small'] == 1000 and blocks['leak_big'] == 10, blocks
    # What is left else is the buffer of standard output.
    assert len(bytes_) == 3, bytes_
    text = dwell('heap', path).stdout
    assert 'leak_small' in text and '1,000' in text, text


@test
def every_call_is_seen():
    path, _ = record('calls', CALLS, 'calls')
    check_lossless(path)
    got = {name: n for name, n in counts(path, 'allocations').items() if name.startswith('by_')}
    assert got == {'by_malloc': 3, 'by_calloc': 1, 'by_realloc': 3, 'by_reallocarray': 1,
                   'by_posix_memalign': 1, 'by_aligned_alloc': 1, 'by_memalign': 1,
                   'by_valloc': 1, 'by_pvalloc': 1, 'by_nothing': 1, 'by_failure': 1,
                   'by_size_0': 1}, got
    left = {name: n for name, n in counts(path, 'leaked-bytes').items()
            if name.startswith('by_')}
    assert left == {'by_malloc': 33, 'by_calloc': 35, 'by_realloc': 300, 'by_reallocarray': 81,
                    'by_posix_memalign': 640, 'by_aligned_alloc': 1280, 'by_memalign': 320,
                    'by_valloc': 77, 'by_pvalloc': 78, 'by_failure': 2222}, left


@test
def what_a_program_maps_itself_is_apart_from_blocks():
    path, p = record('maps', os.path.join(PROGRAMS, 'e2e-heap_maps'))
    page = int(p.stdout)
    check_lossless(path)

    r = {name: {event: total_of(report(path), name, 'inclusive', event) / page
                for event in ('mapped-bytes', 'still-mapped-bytes')}
         for name in ('kept', 'given_back', 'in_part', 'below', 'above', 'grown', 'broken')}
    assert r == {'kept': {'mapped-bytes': 6, 'still-mapped-bytes': 6},
                 'given_back': {'mapped-bytes': 100, 'still-mapped-bytes': 0},
                 'in_part': {'mapped-bytes': 10, 'still-mapped-bytes': 7},
                 'below': {'mapped-bytes': 8, 'still-mapped-bytes': 5},
                 'above': {'mapped-bytes': 3, 'still-mapped-bytes': 3},
                 'grown': {'mapped-bytes': 24, 'still-mapped-bytes': 20},
                 'broken': {'mapped-bytes': 3, 'still-mapped-bytes': 2}}, r
    whole = process(path)
    assert whole['heap-mappings'] == 8 and whole['heap-mapped-peak'] == 106 * page, whole
    assert whole['heap-mapped-left'] == 43 * page, whole
    # Nothing of it is a block: standard output has one.
    assert whole['heap-allocations'] <= 1, whole
    text = dwell('heap', '--mapped', path).stdout
    assert 'Mapped by the program itself' in text and 'given_back' in text, text


@test
def sizes_lifetimes_and_time_add_up():
    path, _ = record('rows', os.path.join(WORKLOADS, 'heap'), '100000')
    h, whole = heap(path), process(path)
    for rows, key, name in (('sizes', 'allocations', 'heap-allocations'),
                            ('sizes', 'allocated', 'heap-allocated'),
                            ('sizes', 'left', 'heap-left'),
                            ('sizes', 'left-blocks', 'heap-left-blocks'),
                            ('lifetimes', 'blocks', 'heap-frees')):
        assert sum(row[key] for row in h[rows]) == whole[name], (rows, key, h[rows], whole)
    # What leak_big takes is 10,000 bytes, and nothing else is so large.
    assert [(r['allocations'], r['left']) for r in h['sizes'] if r['less-than'] > 8192] == \
        [(10, 100000)], h['sizes']
    course = h['course']
    assert max(p['held-at-most'] for p in course) == whole['heap-peak']
    assert course[-1]['held'] == whole['heap-left'], (course[-1], whole)
    assert [p['time_ns'] for p in course] == sorted(p['time_ns'] for p in course)


@test
def every_event_is_kept_where_it_is_asked_for():
    path, _ = record('trace', os.path.join(WORKLOADS, 'heap'), '20000', run=('--trace',))
    lines = dwell('cat', '--section', 'traces', path).stdout.splitlines()
    rows = [dict(x.split('=', 1) for x in line.split()[1:]) for line in lines if 'address=' in line]
    taken = [r for r in rows if 'lived' not in r]
    given = [r for r in rows if 'lived' in r]
    whole = process(path)
    assert len(taken) == whole['heap-allocations'] and len(given) == whole['heap-frees']
    assert sum(int(r['size']) for r in taken) == whole['heap-allocated']
    # Whoever follows the events by address finds the same that is left.
    live = {}
    for r in rows:
        if 'lived' in r:
            assert live.pop(r['address']) == r['size'], r
        else:
            assert r['address'] not in live, r
            live[r['address']] = r['size']
    assert sum(int(n) for n in live.values()) == whole['heap-left'], whole


@test
def mappings_are_kept_one_by_one_too():
    path, p = record('trace-maps', os.path.join(PROGRAMS, 'e2e-heap_maps'), run=('--trace',))
    page, mapped, n = int(p.stdout), set(), 0
    for line in dwell('cat', '--section', 'traces', path).stdout.splitlines():
        x = dict(w.split('=', 1) for w in line.split()[1:])
        if 'address' not in x or int(x['address'], 16) % page:
            continue # a block of the allocator
        pages = range(int(x['address'], 16) // page,
                      (int(x['address'], 16) + int(x['size']) + page - 1) // page)
        if 'lived' in x:
            assert mapped.issuperset(pages), line
            mapped.difference_update(pages)
        else:
            assert mapped.isdisjoint(pages), line
            mapped.update(pages)
            n += 1
    whole = process(path)
    assert len(mapped) * page == whole['heap-mapped-left'], (len(mapped), whole)
    # That of mremap which failed is there again.
    assert n >= whole['heap-mappings'], (n, whole)


@test
def a_library_that_a_program_sets_for_what_it_executes_comes_behind_ours():
    for way in 'LD_PRELOAD=libm.so.6', 'env LD_PRELOAD=libm.so.6', 'env -u LD_PRELOAD':
        path, p = record('preloads', 'sh', '-c', f'{way} {CALLS} calls && {way} cat /proc/self/maps')
        assert not loss(path, 'not-followed'), (way, p.stderr)
        assert counts(path, 'allocations')['by_malloc'] == 3, way
        assert 'libdwell-tracer.so' in p.stdout and ('-u' in way or '/libm' in p.stdout), (way, p.stdout)


def far_off(estimate, truth, sample):
    """In standard errors, which are less than that of blocks much smaller than a sample."""
    return abs(estimate - truth) / (sample * truth) ** 0.5


@test
def estimates_are_as_near_to_the_truth_as_they_say():
    program = os.path.join(WORKLOADS, 'heap'), '1000000'
    exact = record('exact', *program)[0]
    truth, by_get = process(exact), counts(exact, 'allocated-bytes')['get']
    for sample in 4096, 65536:
        path, _ = record('sampled', *program, run=('--sample', str(sample)))
        check_lossless(path)
        got = process(path)
        assert got['heap-sample'] == sample, got
        for name in 'heap-allocated', 'heap-left':
            assert far_off(got[name], truth[name], sample) < 6, (sample, name, got, truth)
        # Nearly all blocks are of one distribution of sizes.
        assert abs(got['heap-allocations'] / truth['heap-allocations'] - 1) < 0.1, (got, truth)
        bytes_ = counts(path, 'allocated-bytes')
        assert far_off(bytes_['get'], by_get, sample) < 6, (bytes_, by_get)
        assert 'estimated from a block' in dwell('heap', path).stdout.replace('\n              ', ' ')


@test
def calls_that_fail_change_no_estimate():
    path, _ = record('failing', CALLS, 'failing', run=('--sample', '512k'))
    bytes_ = counts(path, 'allocated-bytes')
    assert far_off(bytes_['fits'], 30000 * 20100, 512 << 10) < 6 and 'fails' not in bytes_, bytes_


@test
def blocks_that_are_large_beside_a_sample_are_all_there():
    path, _ = record('large', os.path.join(WORKLOADS, 'heap'), '1000', run=('--sample', '16'))
    # Of 100 bytes one in 500 is missed, of 10,000 none; what is taken is told as more.
    assert counts(path, 'leaks')['leak_big'] == 10, counts(path, 'leaks')
    assert abs(counts(path, 'leaks')['leak_small'] - 1000) < 15, counts(path, 'leaks')


@test
def threads_and_children_are_sampled_like_the_first():
    path, _ = record('sampled', CALLS, 'passing', run=('--sample', '1k'))
    check_lossless(path)
    got, left = counts(path, 'allocations'), counts(path, 'leaks')
    assert abs(got['pass'] / 200000 - 1) < 0.5 and 'pass' not in left, (got, left)
    path, _ = record('sampled', CALLS, 'processes', run=('--sample', '16'))
    check_lossless(path)


@test
def the_first_block_behind_a_pause_is_sampled_by_chance_too():
    sample = 16 << 20
    path, _ = record('behind', THREADS, 'paused', run=('--toggle', 'USR1', '--sample', str(sample)))
    # Of fifty blocks of 100 bytes hardly one.
    assert counts(path, 'leaks').get('leak_behind_pause', 0) < 10 * sample / 101, counts(path, 'leaks')


def n_waits(*options):
    """How often recorder and program went to sleep in two seconds."""
    with subprocess.Popen([harness.DWELL, 'run', '-q', '-e', 'heap', *options, '-o', os.path.join(DIR, 'quiet.dwell'),
                           '--', 'sleep', '2']) as p:
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
    assert p.returncode == 0
    return usage.ru_nvcsw


@test
def who_samples_little_looks_seldom_while_no_program_comes_or_goes():
    n, n_sampled = n_waits('--sample', '1k'), n_waits('--sample', '512k')
    assert n_sampled < 80 and (n < 100 or n_sampled < n / 1.5), (n, n_sampled)


@test
def only_the_heap_can_be_sampled():
    p = dwell('run', '-e', 'usertime', '--sample', '1k', '--', 'true')
    assert p.returncode == 2 and '-e heap' in p.stderr, p


LOST = os.path.join(PROGRAMS, 'e2e-heap_lost')
KINDS = 'lost', 'indirectly-lost', 'possibly-lost'


def by_kind(path):
    """(blocks, bytes) of each, of the largest process."""
    p = process(path)
    assert p['heap-looked'] == 1, p
    return {kind: (p[f'heap-{kind}-blocks'], p[f'heap-{kind}']) for kind in KINDS}


def valgrind_kinds(*command):
    p = subprocess.run(['valgrind', '--leak-check=full', '--run-libc-freeres=no', '--run-cxx-freeres=no',
                        *command], capture_output=True, text=True, timeout=300)
    found = re.findall(r'(definitely|indirectly|possibly) lost: ([\d,]+) bytes in ([\d,]+) blocks', p.stderr)
    assert len(found) == 3, p.stderr[-2000:]
    return {kind: (int(blocks.replace(',', '')), int(bytes_.replace(',', '')))
            for kind, (_, bytes_, blocks) in zip(KINDS, found)}


@test
def what_nothing_points_to_any_more_is_told_from_the_rest():
    for way in 'return', 'exit', '_exit', 'thread':
        path, _ = record('lost', LOST, way)
        rows = {name: {kind: total_of(report(path, '--event', kind), name, 'inclusive', kind)
                       for kind in (*KINDS, 'leaks')}
                for name in ('lost_at_once', 'lost_chain', 'lost_circle', 'lost_behind_freed',
                             'possibly_by_data')}
        chain = {'lost': 1, 'indirectly-lost': 29, 'possibly-lost': 0, 'leaks': 30}
        circle = {'lost': 1, 'indirectly-lost': 1, 'possibly-lost': 0, 'leaks': 2}
        assert rows == {'lost_at_once': {'lost': 20, 'indirectly-lost': 0, 'possibly-lost': 0, 'leaks': 20},
                        'lost_chain': chain, 'lost_circle': circle,
                        'lost_behind_freed': {'lost': 2, 'indirectly-lost': 0, 'possibly-lost': 0, 'leaks': 2},
                        'possibly_by_data': {'lost': 0, 'indirectly-lost': 0, 'possibly-lost': 2, 'leaks': 2}
                        }, (way, rows)
        # All else is reached, but tables of threads that the C library has, possibly.
        got = by_kind(path)
        assert (got['lost'], got['indirectly-lost']) == ((24, 1544), (30, 984)), (way, got)
        for kind in KINDS:
            for row in report(path, '--event', kind)['rows']:
                assert not row['name'].startswith('reached_') or not row['inclusive'].get(kind), (way, row)


@test
def memory_that_a_program_has_not_touched_is_not_there_afterwards():
    with tempfile.NamedTemporaryFile(dir='/dev/shm') as file:
        file.truncate(256 << 20)
        path, _ = record('untouched', LOST, 'exit', file.name)
        # A large page, at most.
        assert os.stat(file.name).st_blocks * 512 <= 2 << 20, os.stat(file.name)
    got = by_kind(path)
    assert (got['lost'], got['indirectly-lost']) == ((24, 1544), (30, 984)), got
    assert total_of(report(path, '--event', 'leaks'), 'reached_by_file', 'inclusive', 'leaks') == 1


@test
def what_checks_addresses_is_not_looked_through_page_by_page():
    """Its shadow has sixteen terabytes, of which the kernel tells at once what is there since Linux 6.7."""
    need('gcc')
    if tuple(int(x) for x in os.uname().release.split('.')[:2]) < (6, 7):
        raise Skip('the kernel does not look for pages')
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'heap_lost.c')
    program = os.path.join(DIR, 'checked')
    if subprocess.run(['gcc', '-fsanitize=address', '-O1', '-pthread', '-o', program, source], capture_output=True).returncode:
        raise Skip('no programs are made that check addresses')
    path, _ = record('checked', program, 'exit', env={**os.environ, 'ASAN_OPTIONS': 'detect_leaks=0'})
    assert process(path)['heap-looked'] == 1, process(path)
    lost = total_of(report(path, '--event', 'leaks'), 'lost_at_once', 'inclusive', 'leaks')
    assert lost == 20, lost


def check_kinds_as_valgrind(name, *command):
    need('valgrind', command[0])
    got, want = by_kind(record(name, *command)[0]), valgrind_kinds(*command)
    assert (got['lost'], got['indirectly-lost']) == (want['lost'], want['indirectly-lost']), (got, want)
    # A thread's table of its data is larger by one with us.
    assert got['possibly-lost'][0] == want['possibly-lost'][0], (got, want)


@test
def what_perl_loses_is_lost_for_valgrind_too():
    command = 'perl', '-e', 'my %h; $h{$_} = $_ for 1 .. 1000; print scalar keys %h'
    need('valgrind', 'perl')
    got, want = by_kind(record('perl', *command)[0]), valgrind_kinds(*command)
    assert (got['lost'], got['indirectly-lost']) == (want['lost'], want['indirectly-lost']), (got, want)
    assert got['lost'][0], got


@test
def what_is_lost_is_so_for_valgrind_too():
    check_kinds_as_valgrind('lost', LOST, 'exit')
    check_kinds_as_valgrind('lost', os.path.join(WORKLOADS, 'churn'), '2000')
    check_kinds_as_valgrind('lost', 'sqlite3', ':memory:', 'create table t(a,b); select * from t;')


@test
def what_is_pointed_to_as_a_whole_is_reached_wherever_it_is_pointed_to():
    program = os.path.join(PROGRAMS, 'e2e-heap_objects')
    need(program)
    check_kinds_as_valgrind('objects', program)
    assert by_kind(record('objects', program)[0])['possibly-lost'][0] == 2


@test
def a_report_says_what_is_lost_or_why_that_is_not_known():
    text = dwell('heap', '--lost', record('lost', LOST, 'exit')[0]).stdout
    assert 'Lost, as nothing points to it any more: 1.5 KB' in text and 'lost_at_once' in text, text
    assert 'possibly_by_data' not in text, text
    for run, way, code, why in (((), 'kill', 137, 2), (('--sample', '1k'), 'exit', 0, 4)):
        path, _ = record('lost', LOST, way, code=code, run=run)
        p = process(path)
        assert p['heap-looked'] == why and not p['heap-lost-blocks'], p
        text = ' '.join(dwell('heap', path).stdout.split())
        assert 'lost or not: not known' in text, text
    path, _ = record('lost', CALLS, 'processes')
    assert sorted(p['heap-looked'] for p in heap(path)['processes']) == [1, 3], heap(path)['processes']


@test
def no_program_waits_for_a_recorder_that_is_gone():
    script = 'kill -9 $PPID; sleep 0.1; "$0" exit; echo $?'
    p = dwell('run', '-e', 'heap', '-o', os.path.join(DIR, 'gone.dwell'), '--', 'sh', '-c', script, LOST)
    assert (p.returncode, p.stdout) == (-9, '0\n'), p
    # And not for ever for one that does nothing.
    path, p = record('stopped', 'sh', '-c', 'kill -STOP $PPID; "$0" exit; echo $?; kill -CONT $PPID', LOST)
    assert p.stdout == '0\n', p
    looked = {p['command']: p['heap-looked'] for p in heap(path)['processes']}
    assert looked['e2e-heap_lost'] == 6, looked


@test
def the_peak_is_exact_and_so_is_who_held_it():
    path, _ = record('peak', CALLS, 'peak')
    got = counts(path, 'peak-bytes')
    assert (got['low'], got['high']) == (5000, 14000), got
    assert counts(path, 'peak-blocks') == {**counts(path, 'peak-blocks'), 'low': 5, 'high': 7}
    assert process(path)['heap-peak'] == sum(got.values()), (process(path), got)


@test
def blocks_may_be_given_back_by_another_thread():
    path, _ = record('passing', CALLS, 'passing')
    check_lossless(path)
    assert counts(path, 'allocations')['pass'] == 200000
    assert 'pass' not in counts(path, 'leaks')


@test
def threads_that_come_and_go_are_counted():
    path, _ = record('threads', CALLS, 'threads')
    check_lossless(path)
    assert counts(path, 'leaks')['leak_in_thread'] == 3000


@test
def ten_thousand_threads_at_once_are_counted():
    path = os.path.join(DIR, 'many.dwell')
    p = dwell('run', '-e', 'heap', '-o', path, '--', CALLS, 'many', '10000')
    if p.returncode == 77:
        raise Skip('so many threads are not allowed here')
    assert p.returncode == 0, (p.returncode, p.stderr)
    check_lossless(path)
    assert counts(path, 'leaks')['leak_together'] == 10000


@test
def children_are_processes_of_their_own():
    path, _ = record('processes', CALLS, 'processes')
    check_lossless(path)
    left = counts(path, 'leaked-bytes')
    assert (left['leak_in_child'], left['leak_in_parent']) == (44, 55), left
    assert 'processes' not in left and 'main' not in left, left
    assert len(heap(path)['processes']) == 2, heap(path)['processes']


@test
def children_that_are_not_followed_are_not_there():
    path, _ = record('alone', CALLS, 'processes', run=('--follow', 'off'))
    assert 'leak_in_child' not in counts(path, 'leaked-bytes')
    assert counts(path, 'leaked-bytes')['leak_in_parent'] == 55


@test
def a_child_in_which_nothing_can_be_loaded_is_told_of_once():
    """It began as one that was observed, and executes what is not told of us."""
    for seconds in 0.5, 2, 8, 32:
        path, _ = record('native', 'sh', '-c', f'env env -i sleep {seconds}; :')
        if loss(path, 'not-followed'):
            break
    assert loss(path, 'not-followed') == 1


@test
def a_static_program_that_another_runs_is_named_in_every_report():
    static = os.path.join(PROGRAMS, 'e2e-visited-static')
    for seconds in 0.2, 2, 8:
        path, _ = record('static', 'sh', '-c', f'sleep {seconds} | {static} >&2; {CALLS} processes')
        if loss(path, 'not-followed'):
            break
    assert loss(path, 'not-followed') == 1
    source, = report(path)['sources']
    named, = source['not_followed']
    assert named['program'] == static and 'statically linked' in named['why'], named
    for command in 'heap', 'report':
        said = ' '.join(dwell(command, path).stdout.split())
        assert 'not followed: e2e-visited-static: it is statically linked' in said, said


@test
def what_was_taken_before_a_kill_is_known():
    path, _ = record('killed', CALLS, 'killed', code=137)
    assert counts(path, 'leaks')['leak_in_parent'] == 1000


@test
def handlers_may_allocate_in_the_middle_of_an_event():
    bump = os.path.join(PROGRAMS, 'libe2e-heap_bump.so')
    path, p = record('handlers', CALLS, 'handlers', env={**os.environ, 'LD_PRELOAD': bump})
    n, n_handled = (int(x) for x in p.stdout.split())
    got = process(path)['heap-allocations']
    assert n + n_handled <= got <= n + n_handled + 10, (got, n, n_handled)
    assert not loss(path, 'lost-events') and not loss(path, 'unmatched-frees')


@test
def handlers_may_have_their_stack_among_the_data_of_a_thread():
    bump = os.path.join(PROGRAMS, 'libe2e-heap_bump.so')
    path, p = record('interrupted', THREADS, 'interrupted', env={**os.environ, 'LD_PRELOAD': bump})
    n, n_handled = (int(x) for x in p.stdout.split())
    got = counts(path, 'leaks')
    # Who interrupts a walk has none; nobody is taken for another.
    assert got['leak_in_thread'] == n and got['leak_in_handler'] <= n_handled, (got, n, n_handled)
    assert not loss(path, 'lost-events') and not loss(path, 'damaged-records')


@test
def a_thread_may_begin_in_a_child_of_vfork():
    path, _ = record('vforked', THREADS, 'vforked')
    check_lossless(path)
    got = counts(path, 'leaks')
    assert (got['leak_as_parent'], got['leak_as_other']) == (100000, 100000), got


@test
def a_thread_may_begin_on_another_stack_whatever_its_tables_say():
    path, _ = record('fibre', THREADS, 'fibre')
    check_complete(path)
    assert counts(path, 'leaks')['leak_in_fibre'] == 1


@test
def another_allocator_is_observed_as_well():
    jemalloc = '/usr/lib/x86_64-linux-gnu/libjemalloc.so.2'
    if not os.path.exists(jemalloc):
        raise Skip('no jemalloc here')
    path, _ = record('jemalloc', os.path.join(WORKLOADS, 'heap'), '100000',
                     env={**os.environ, 'LD_PRELOAD': jemalloc})
    got = counts(path, 'allocations')
    assert got['leak_small'] == 1000 and got['get'] == 100000, got


@test
def deep_stacks_are_whole():
    path, _ = record('deep', CALLS, 'deep', '800')
    check_lossless(path)
    r = report(path)
    assert total_of(r, 'main', 'inclusive', 'leaked-bytes') >= 88, r['rows'][:5]


@test
def our_own_frames_are_not_there():
    path, _ = record('own', os.path.join(WORKLOADS, 'churn'), '2000')
    assert not [row for row in report(path)['rows'] if 'dwell' in row.get('image', '')]


@test
def a_program_that_execs_another_has_two_heaps():
    path, _ = record('exec', 'sh', '-c', f'exec {CALLS} processes')
    check_lossless(path)
    assert sorted({p['command'] for p in heap(path)['processes']}) == ['e2e-heap_calls', 'sh']
    rows = report(path, '--by', 'process', '--event', 'leaked-bytes')['rows']
    mine = [row['exclusive']['leaked-bytes'] for row in rows if row['name'].startswith('e2e-heap_calls')]
    assert sorted(mine) == [44, 55], rows


def beside(experiments, *command, source=()):
    """Recorded together with others, who observe the same processes in their own way."""
    path = os.path.join(DIR, 'beside.dwell')
    p = dwell('run', *source, '-e', experiments, '-o', path, '--', *command)
    if p.returncode == 1 and 'not available here' in p.stderr:
        raise Skip(p.stderr.splitlines()[-1])
    assert p.returncode == 0, (experiments, p.stderr)
    return path


def check_beside(experiments, source=()):
    path = beside(experiments, os.path.join(WORKLOADS, 'heap'), '1000000', source=source)
    check_complete(path)
    blocks, bytes_ = counts(path, 'leaks'), counts(path, 'leaked-bytes')
    assert (blocks['leak_small'], blocks['leak_big']) == (1000, 10), blocks
    assert (bytes_['leak_small'], bytes_['leak_big']) == (100000, 100000), bytes_
    assert process(path)['heap-allocations'] > 1000000, process(path)
    return path


def listed(path, section, key):
    text = dwell('cat', '--section', section, path).stdout
    return re.findall(fr'^\S+ \d+ .*?{key}="?([^" ]+)', text, re.M)


@test
def the_heap_stands_beside_samples_of_time():
    for experiments in 'usertime,heap', 'heap,usertime':
        for source in (), ('--source', 'timer'):
            path = check_beside(experiments, source)
            assert counts(path, 'cpu-time'), report(path)['rows']
            # One process, one thread, and each file once.
            assert len(listed(path, 'processes', 'pid')) == 1, path
            assert len(listed(path, 'threads', 'tid')) == 1, path
            images = listed(path, 'images', 'path')
            assert len(set(images)) == len(images), images
            r = report(path, '--filter', 'function=leak_small')
            assert {row['name'] for row in r['rows'] if row['exclusive'].get('leaks')} == {'leak_small'}
            mine, all_ = heap(path, '--filter', 'thread=heap'), heap(path)
            assert (mine['rows'], mine['total']) == (all_['rows'], all_['total']), mine


@test
def what_tracing_takes_beside_samples_of_time_has_a_line_of_its_own():
    own = '[dwell tracing]'
    for source in (), ('--source', 'timer'):
        path = beside('fusertime,heap', os.path.join(WORKLOADS, 'churn'), '60000', source=source)
        r = report(path, '--event', 'cpu-time')
        assert not [row for row in r['rows'] if 'libdwell' in row.get('image', '')], r['rows']
        # Libraries of C++ that Debian has stripped may be met as they begin.
        nameless = {os.path.basename(x['image']).split('.')[0] for x in r['quality']['unresolved_images']}
        assert nameless <= {'libgcc_s', 'libstdc++'}, r['quality']
        # Some of it, within what the program calls, and never all of it.
        took, total = total_of(r, own, 'exclusive'), r['total']['cpu-time']
        assert 0.02 < took / total < 0.9, (source, took, total)
        assert total_of(r, 'main', 'inclusive') >= took, (source, r['rows'][:5])
        # The clock that is read is not the program's.
        assert not total_of(r, '__vdso_clock_gettime', 'inclusive'), source


@test
def the_heap_stands_beside_sums_of_the_kernel():
    for experiments in 'usertime,heap,io', 'heap,states', 'io,heap', 'usertime,heap,syscalls':
        path = check_beside(experiments)
        # Whoever tells of them first, they are the same.
        assert len(listed(path, 'processes', 'pid')) == 1, (experiments, path)
        assert len(listed(path, 'threads', 'tid')) == 1, (experiments, path)
        if 'io' in experiments:
            p = dwell('io', '--json', path)
            assert p.returncode == 0 and json.loads(p.stdout), p.stderr


def heaps_and_threads(experiments, script, source):
    path = beside(experiments, 'sh', '-c', script, source=source)
    check_complete(path)
    left = counts(path, 'leaked-bytes')
    assert (left['leak_in_child'], left['leak_in_parent']) == (88, 110), left
    return len(listed(path, 'processes', 'pid')), len(listed(path, 'threads', 'tid'))


@test
def processes_are_the_same_whoever_tells_of_them():
    script = f"sh -c 'sleep 0.01; exec {CALLS} processes'; exec {CALLS} processes"
    for source in ('--source', 'timer'), ():
        for experiments in 'heap,usertime', 'usertime,heap':
            got = heaps_and_threads(experiments, script, source)
            assert got == (13, 13), (source, experiments, got)


@test
def a_static_program_is_refused_by_name():
    program = os.path.join(PROGRAMS, 'e2e-victim-static')
    if not os.path.exists(program):
        raise Skip('no static program here')
    p = dwell('run', '-e', 'heap', '--', program, 'spawns')
    assert p.returncode == 1 and 'statically linked' in p.stderr, (p.returncode, p.stderr)


@test
def of_a_static_program_what_is_not_recorded_is_told():
    program = os.path.join(PROGRAMS, 'e2e-victim-static')
    if not os.path.exists(program):
        raise Skip('no static program here')
    if not harness.may_record('perf'):
        raise Skip('nothing else is recorded of it here')
    path = os.path.join(DIR, 'static.dwell')
    for experiments in 'heap,usertime,fpe', 'usertime,heap,fpe':
        p = dwell('run', '-e', experiments, '-o', path, '--', program, 'spawns')
        told = f"not recorded: heap, fpe: '{program}' is statically linked"
        assert p.returncode == 0 and told in p.stderr, (p.returncode, p.stderr)
        found = dwell('report', path)
        assert 'cpu-time' in found.stdout and 'not recorded: heap, fpe: ' in found.stdout, found
        for view, what in ('heap', 'heap'), ('fpe', 'exceptions'):
            p = dwell(view, path)
            assert p.returncode == 1 and f'{path} has no {what} (not recorded: heap, fpe: ' in p.stderr, p
        p = dwell('sync', path)
        assert p.returncode == 1 and 'dwell run -e sync' in p.stderr, p


@test
def a_recording_of_something_else_says_how():
    path = os.path.join(DIR, 'time.dwell')
    dwell('run', '-e', 'usertime', '-o', path, '--', 'true')
    p = dwell('heap', path)
    assert p.returncode == 1 and 'dwell run -e heap' in p.stderr, p


@test
def a_place_that_is_full_is_not_taken():
    """Neither one that has room for the library only, where nobody could tell anything."""
    need('unshare', 'mount')
    path, program = os.path.join(DIR, 'full.dwell'), os.path.join(WORKLOADS, 'heap')
    for size, places, options in (('64k', ('/dev/shm',), '-e heap'), ('2m', ('/dev/shm',), '-e heap'),
                                  ('64k', ('/dev/shm',), '-e usertime -i 100us --source timer'),
                                  ('64k', ('/dev/shm', '/tmp'), '-e heap')):
        mounts = ''.join(f'mount -t tmpfs -o size={size} none {place}; ' for place in places)
        shell = (f'set -e; cd {DIR}; cp {program} heap; exec 9<{harness.DWELL}; {mounts}unset XDG_RUNTIME_DIR; '
                 f'exec /proc/self/fd/9 run -q {options} -o full.dwell -- ./heap 1000')
        p = subprocess.run(['unshare', '--mount', 'sh', '-c', shell], capture_output=True, text=True, check=False)
        if 'unshare' in p.stderr:
            raise Skip(p.stderr)
        if '/tmp' in places:
            assert p.returncode == 1 and 'no place for' in p.stderr and p.stderr.count('\n') == 1, p
            continue
        assert p.returncode == 0 and not p.stderr, p
        assert not loss(path, 'processes-without-ring'), (size, options)
        if 'heap' in options:
            assert process(path)['heap-allocations'] >= 1000, process(path)


@test
def what_a_place_is_full_of_may_be_what_was_left_there():
    """By a recorder that was killed, whose process is there no more."""
    need('unshare', 'mount')
    program = os.path.join(WORKLOADS, 'heap')
    left = f'/dev/shm/dwell-{2 ** 22}-abcdef'  # more than there may be
    shell = (f'set -e; cd {DIR}; mount -t tmpfs -o size=32m none /dev/shm; mkdir {left}; '
             f'head -c 32m /dev/zero > {left}/ring.1 2>/dev/null || :; '
             f'{harness.DWELL} run -q -e heap -o left.dwell -- {program} 1000; ls -A /dev/shm')
    p = subprocess.run(['unshare', '--mount', 'sh', '-c', shell], capture_output=True, text=True, check=False)
    if 'unshare' in p.stderr:
        raise Skip(p.stderr)
    assert p.returncode == 0 and not p.stderr and 'dwell-' not in p.stdout, p


sys.exit(run_all(harness.TESTS, words=sys.argv[4:]))
