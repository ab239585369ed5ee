#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The experiment bbcounts on processes that already run: counted for a while, they do not
notice, and nothing of it stays.  usage: bbcounts_attach.py DWELL DIRECTORY"""
import contextlib
import functools
import glob
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import harness
from harness import dwell, need, test

PROGRAMS = os.path.abspath(sys.argv[2])
LASTING = f'{PROGRAMS}/e2e-blocks_lasting'
LIMIT_S = 60
LOSSES = ['unbalanced-executions', 'unknown-edges', 'uncounted-entries', 'damaged-counts', 'still-counted']


def maps(pid):
    with open(f'/proc/{pid}/maps', encoding='utf-8') as f:
        return f.read()


def status(pid):
    with open(f'/proc/{pid}/status', encoding='ascii') as f:
        return f.read()


def is_counted(pid):
    """Its file of counts is mapped, and it runs: nobody traces it."""
    return re.search(r'/dwell-\d+-.*/of\.\d+\.\d+', maps(pid)) is not None and 'TracerPid:\t0' in status(pid)


def wait_until(what, why):
    end = time.time() + LIMIT_S
    while not what():
        assert time.time() < end, why
        time.sleep(0.002)


@contextlib.contextmanager
def lasting(name):
    """The program, which says at its end what was wrong; it must be nothing."""
    with harness.beside(LASTING, name, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        assert p.stdout.readline() == 'ready\n'
        yield p
        p.stdin.close()
        out = p.stdout.read()
        assert (p.wait(LIMIT_S), out) == (0, '0 wrong \n'), (name, p.returncode, out)


def record(pid, *options, name='r', may_lose=(), **more):
    """A window of it, whose counts add up."""
    path = f'{harness.DIR}/{name}.dwell'
    p = dwell('attach', '-e', 'bbcounts', '-o', path, *options, '-p', str(pid), **more)
    assert p.returncode == 0, p
    facts = {m[1]: int(m[2]) for m in re.finditer(r'name="([\w-]+)" value=(\d+)', dwell('cat', path).stdout)}
    for loss in LOSSES:
        assert not facts.get(loss) or loss in may_lose, (loss, facts)
    return path, p


def is_native(pid):
    """As it was before: no memory of ours, nobody traces it."""
    text = maps(pid)
    assert 'TracerPid:\t0' in status(pid), status(pid)
    assert 'dwell' not in text and not re.search(r'^(4[0-9a-f]{11}|55[0-4][0-9a-f]{9})-', text, re.M), text


def entered(path, function):
    """How often, over all processes."""
    found = {}
    blocks = harness.json.loads(dwell('blocks', '--json', path).stdout)['rows']
    begin = min((b['address'] for b in blocks if b['function']['name'] == function), default=None)
    for b in blocks:
        if b['function']['name'] == function:
            found[b['address']] = found.get(b['address'], 0) + b['times']
    return found.get(begin, 0)


@test
def a_window_of_what_calls_a_function_is_as_long_as_it_says():
    with lasting('told') as p:
        for i, n in enumerate([1, 1000, 123456]):
            path = f'{harness.DIR}/told{i}.dwell'
            with harness.beside(harness.DWELL, 'attach', '-e', 'bbcounts', '-o', path, '-p', str(p.pid),
                                stderr=subprocess.PIPE, text=True) as recorder:
                wait_until(lambda: is_counted(p.pid), 'it is not counted')
                time.sleep(0.05)  # so that all of its threads are where they wait
                p.stdin.write(f'{n}\n')
                p.stdin.flush()
                assert p.stdout.readline() == 'done\n'
                recorder.send_signal(signal.SIGINT)
                assert recorder.wait(LIMIT_S) == 0, recorder.stderr.read()
            is_native(p.pid)
            # a thread that is made, and the one that makes it
            assert entered(path, 'work') == 2 * n, (entered(path, 'work'), n)


def goes_on_unharmed(name, cycles, **more):
    with lasting(name) as p:
        for _ in range(cycles):
            record(p.pid, '-d', '0.01', **more)
            assert p.poll() is None, p.returncode
        is_native(p.pid)


@test
def what_computes_does_not_notice():
    goes_on_unharmed('loop', 100)


@test
def threads_do_not_notice():
    goes_on_unharmed('threads', 40)


@test
def who_has_a_segment_of_its_own_has_it_then_and_afterwards():
    goes_on_unharmed('gs', 40)


@test
def who_waits_in_the_kernel_goes_on_waiting():
    goes_on_unharmed('waits', 40)


@test
def calls_that_a_signal_ends_are_ended_by_it():
    goes_on_unharmed('woken', 60)


@test
def handlers_of_signals_run_as_the_program_has_set_them():
    goes_on_unharmed('signals', 40)


@test
def who_has_forbidden_itself_other_calls_does_not_notice():
    goes_on_unharmed('filter', 20)


@contextlib.contextmanager
def contained(name, places=('/dev/shm', '/tmp', '/var/tmp', '/run'), options='size=1g,noexec'):
    """The same program with files and ids of its own, as in a container; (it, as we call it)."""
    need('unshare', 'mount')
    mounts = ''.join(f'mount -t tmpfs -o {options} none {place}; ' for place in places)
    shell = f'set -e; cd {PROGRAMS}; {mounts}exec ./{os.path.basename(LASTING)} {name}'
    with subprocess.Popen(['unshare', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', 'sh', '-c', shell],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as p:
        try:
            line = p.stdout.readline()
            if line != 'ready\n':
                raise harness.Skip(f'no namespaces here: {p.stderr.read()}')
            pid = child_of(p.pid, lambda child: is_called(child, 'e2e-blocks'), 'it does not begin')
            yield pid
            p.stdin.close()
            assert (p.stdout.read(), p.wait(LIMIT_S)) == ('0 wrong \n', 0)
        finally:
            p.kill()


@test
def who_is_in_a_container_is_counted_there():
    with contained('threads') as pid:
        root = f'/proc/{pid}/root'
        for _ in range(5):
            path, _ = record(pid, '-d', '0.02')
            is_native(pid)
        assert harness.report(path)['total']['instructions'] > 10000
        text = dwell('cat', path).stdout
        assert re.search(rf'^process .*pid={pid}\b', text, re.M), text[:2000]
        assert not [x for place in ['/dev/shm', '/tmp'] for x in os.listdir(root + place)]
    with contained('lasting') as pid:  # and its children
        path, _ = record(pid, '-d', '1')
        pids = {int(m) for m in re.findall(r'^process .*pid=(\d+)', dwell('cat', path).stdout, re.M)}
        assert pid in pids and len(pids) > 1, pids
    with contained('below') as pid:  # and theirs, in a namespace below
        path, _ = record(pid, '-d', '1')
        processes = [(int(m), name) for m, name in re.findall(r'^process .*?pid=(\d+).*?comm="([^"]*)"', dwell('cat', path).stdout, re.M)]
        assert len({p for p, _ in processes}) > 2 and {name for _, name in processes} == {'e2e-blocks_last'}, processes
        assert not [p for p, _ in processes if p < 10], processes
        is_native(pid)


@test
def a_container_without_room_is_refused():
    with contained('loop', options='size=1m') as pid:
        p = dwell('attach', '-e', 'bbcounts', '-o', f'{harness.DIR}/no', '-d', '0.01', '-p', str(pid))
        assert p.returncode and 'no place for counts' in p.stderr and p.stderr.count('\n') == 1, p
        is_native(pid)


@test
def links_of_a_container_lead_nowhere_else():
    need('unshare', 'mount')
    outside = f'{harness.DIR}/outside'
    os.mkdir(outside)
    shell = (f'mount -t tmpfs -o size=1g none /run; mount -t tmpfs none /dev; mount -t tmpfs none /var; mount --bind /run /tmp; '
             f'ln -s {outside} /dev/shm; cd /; echo ready; exec sleep 100')
    with subprocess.Popen(['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', shell],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as p:
        if p.stdout.readline() != 'ready\n':
            raise harness.Skip('no namespaces here')
        pid = child_of(p.pid, lambda child: is_called(child, 'sleep'), 'it does not begin')
        before = os.stat(outside).st_mtime_ns
        dwell('attach', '-e', 'bbcounts', '-o', f'{harness.DIR}/links', '-d', '0.01', '-p', str(pid))
        assert os.stat(outside).st_mtime_ns == before
        p.kill()


@test
def children_are_left_as_well():
    goes_on_unharmed('children', 20)
    goes_on_unharmed('lasting', 20)


@test
def code_that_is_written_meanwhile_is_executed():
    with lasting('code') as p:
        for _ in range(20):
            record(p.pid, '-d', '0.01')
        text = maps(p.pid)
        assert 'dwell' not in text and re.search(r' rwxp ', text), text
        assert re.search(r' rw-s .*/memfd:code', text), text


@test
def children_of_a_window_are_counted_and_left():
    with lasting('lasting') as p:
        path, _ = record(p.pid, '-d', '1')
        assert len(re.findall(r'^process ', dwell('cat', path).stdout, re.M)) > 1
        for child in children(p.pid):
            with contextlib.suppress(OSError):
                is_native(child)


@test
def what_ends_in_a_window_has_been_counted():
    with subprocess.Popen([LASTING, 'loop'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        assert p.stdout.readline() == 'ready\n'
        path = f'{harness.DIR}/ended.dwell'
        with harness.beside(harness.DWELL, 'attach', '-e', 'bbcounts', '-o', path, '-p', str(p.pid),
                            stderr=subprocess.PIPE, text=True) as recorder:
            wait_until(lambda: is_counted(p.pid), 'it is not counted')
            p.stdin.close()
            assert p.stdout.read() == '0 wrong \n' and p.wait(LIMIT_S) == 0
            assert recorder.wait(LIMIT_S) == 0, recorder.stderr.read()
    assert harness.report(path)['total']['instructions'] > 100000
    with subprocess.Popen([LASTING, 'loop'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        with harness.beside(harness.DWELL, 'attach', '-e', 'bbcounts', '-o', f'{harness.DIR}/died.dwell', '-p', str(p.pid),
                            stderr=subprocess.PIPE, text=True) as recorder:
            wait_until(lambda: is_counted(p.pid), 'it is not counted')
            p.kill()
            assert p.wait(LIMIT_S) == -signal.SIGKILL
            assert recorder.wait(LIMIT_S) == 0, recorder.stderr.read()


@test
def what_is_executed_in_a_window_runs_natively():
    script = 'read x; i=0; while [ $i -lt 100 ]; do i=$((i + 1)); done; exec sh -c "read y; echo $i"'
    with subprocess.Popen(['sh', '-c', script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        path = f'{harness.DIR}/executes.dwell'
        wait_until(lambda: open(f'/proc/{p.pid}/syscall', encoding='ascii').read().startswith('0 '), 'it does not read')
        with harness.beside(harness.DWELL, 'attach', '-e', 'bbcounts', '-o', path, '-p', str(p.pid),
                            stderr=subprocess.PIPE, text=True) as recorder:
            wait_until(lambda: is_counted(p.pid), 'it is not counted')
            p.stdin.write('\n')
            p.stdin.flush()
            wait_until(lambda: not is_counted(p.pid), 'it executes nothing')
            is_native(p.pid)
            recorder.send_signal(signal.SIGINT)
            assert recorder.wait(LIMIT_S) == 0, recorder.stderr.read()
        p.stdin.write('\n')
        p.stdin.close()
        assert p.stdout.read() == '100\n' and p.wait(LIMIT_S) == 0
    assert harness.report(path)['total']['instructions'] > 10000


@test
def a_recorder_that_is_killed_leaves_it_running():
    with lasting('threads') as p:
        with harness.beside(harness.DWELL, 'attach', '-e', 'bbcounts', '-o', f'{harness.DIR}/killed.dwell', '-p', str(p.pid),
                            stderr=subprocess.DEVNULL) as recorder:
            wait_until(lambda: is_counted(p.pid), 'it is not counted')
            recorder.kill()
        time.sleep(0.2)
        assert p.poll() is None and is_counted(p.pid)
        again = dwell('attach', '-e', 'bbcounts', '-o', f'{harness.DIR}/no', '-p', str(p.pid), '-d', '0.01')
        assert again.returncode and 'counted already' in again.stderr, again


def rests(pid):
    return re.search(r' ---s .*/dwell-\d+-.*/of\.', maps(pid)) is not None


def counts(pid):
    return re.search(r' rw-s .*/dwell-\d+-.*/of\.', maps(pid)) is not None


@contextlib.contextmanager
def counted_now_and_then(pid, share):
    """A recorder, after a window, while its engine rests."""
    with harness.beside(harness.DWELL, 'attach', '-q', '-e', f'usertime,anchors:{share}%', '-o', f'{harness.DIR}/then.dwell',
                        '-p', str(pid)) as recorder:
        wait_until(lambda: rests(pid), 'no engine rests')
        yield recorder


@test
def where_the_engine_rests_between_windows_nobody_notices():
    for name in ('threads', 'signals', 'code', 'swapped', 'forks'):
        with lasting(name) as p, counted_now_and_then(p.pid, 50) as recorder:
            wait_until(functools.partial(counts, p.pid), 'there is one window only')
            wait_until(functools.partial(rests, p.pid), 'it rests once only')
            recorder.send_signal(signal.SIGINT)
            assert recorder.wait(LIMIT_S) == 0
            is_native(p.pid)


@test
def code_that_needs_flags_where_it_did_not_has_them():
    with lasting('compared') as p, counted_now_and_then(p.pid, 50) as recorder:
        for _ in range(10):
            wait_until(functools.partial(counts, p.pid), 'there are no windows any more')
            wait_until(functools.partial(rests, p.pid), 'a window does not end')
        recorder.send_signal(signal.SIGINT)
        assert recorder.wait(LIMIT_S) == 0


@test
def who_forbids_itself_calls_while_the_engine_rests_goes_on():
    for name in ('sealed', 'strict'):
        with lasting(name) as p, counted_now_and_then(p.pid, 3) as recorder:
            p.stdin.write('\n')
            p.stdin.flush()
            assert p.stdout.readline() == 'done\n', name
            recorder.send_signal(signal.SIGINT)
            assert recorder.wait(LIMIT_S) == 0
            assert p.poll() is None and 'TracerPid:\t0' in status(p.pid), (name, p.returncode)


def is_small(pid):
    return int(re.search(r'^VmHWM:\s*(\d+) kB', status(pid), re.M)[1]) < 1 << 20


@test
def who_locks_its_memory_is_not_filled_with_the_engine():
    with lasting('locked') as p:
        with counted_now_and_then(p.pid, 20) as recorder:
            p.stdin.write('\n')
            p.stdin.flush()
            assert p.stdout.readline() == 'done\n'
            wait_until(functools.partial(counts, p.pid), 'there is one window only')
            wait_until(lambda: not counts(p.pid), 'the window does not end')
            assert not rests(p.pid) and is_small(p.pid), status(p.pid)
            recorder.send_signal(signal.SIGINT)
            assert recorder.wait(LIMIT_S) == 0
        p.stdin.write('\n')
        p.stdin.flush()
        assert p.stdout.readline() == 'done\n'
        refused = dwell('attach', '-e', 'bbcounts', '-o', f'{harness.DIR}/no', '-p', str(p.pid), '-d', '0.01')
        assert refused.returncode and 'locks its memory' in refused.stderr, refused
        is_native(p.pid)
        assert is_small(p.pid), status(p.pid)


@test
def who_forbids_itself_calls_is_left_before():
    for name in ('sealed', 'strict'):
        with lasting(name) as p:
            path = f'{harness.DIR}/{name}.dwell'
            with harness.beside(harness.DWELL, 'attach', '-q', '-e', 'bbcounts', '-o', path, '-p', str(p.pid)) as recorder:
                wait_until(functools.partial(is_counted, p.pid), 'it is not counted')
                p.stdin.write('\n')
                p.stdin.flush()
                assert p.stdout.readline() == 'done\n', name
                is_native(p.pid)
                recorder.send_signal(signal.SIGINT)
                assert recorder.wait(LIMIT_S) == 0
            assert 'name="restricted-counts" value=1' in dwell('cat', path).stdout, name


@test
def an_engine_that_a_killed_recorder_leaves_is_taken_away_by_the_next():
    for _ in range(20):
        with lasting('threads') as p:
            with counted_now_and_then(p.pid, 5) as recorder:
                time.sleep(.2)  # what it does behind a window is over, and the next is not due
                recorder.kill()
            if not rests(p.pid):
                continue  # the next window had begun
            record(p.pid, '-d', '0.01')
            is_native(p.pid)
            return
    raise AssertionError('all were killed in a window')


@test
def what_others_say_they_say_counted_now_and_then():
    programs = [
        ['/usr/bin/python3', '-c', 'n = 0\nfor k in range(60):\n d = {}\n for i in range(20000): d[i % 97] = str(i * k)\n'
         ' n += sum(map(len, d.values()))\nprint(n)'],
        ['perl', '-e', 'my %h; for my $k (1 .. 40) { $h{$_ % 1009} .= chr(65 + $_ % 26) for 1 .. 40000; '
         '%h = map { $_ => substr($h{$_}, 0, 40) } keys %h } print join("", map { $h{$_} } sort keys %h), "\n"'],
        ['sqlite3', ':memory:', 'create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c where x < 300000) '
         'insert into t select x, x * 7919 % 100003 from c; create index i on t(b); '
         'select count(*), sum(a), max(b) from t where b in (select a from t);'],
        ['node', '-e', 'let n = 0; for (let k = 0; k < 40; k++) { const a = []; for (let i = 0; i < 40000; i++) a.push((i * 7919) % 10007); '
         'a.sort((x, y) => x - y); n += a[k * 100] } console.log(n)'],
    ]
    for words in programs:
        if not shutil.which(words[0]):
            continue
        natively = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        windows = 0
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as p:
            while p.poll() is None:
                with contextlib.suppress(AssertionError):  # as it has ended
                    record(p.pid, '-d', '0.02')
                    windows += 1
                time.sleep(0.02)
            assert (p.stdout.read(), p.returncode) == (natively, 0), words
        assert windows, words


def children(pid):
    with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as f:
        return [int(child) for child in f.read().split()]


def child_of(pid, what, why):
    """Its child, once that is what is told of it."""
    found = []

    def is_there():
        with contextlib.suppress(OSError):
            found[:] = [child for child in children(pid) if what(child)]
        return found

    wait_until(is_there, why)
    return found[0]


def is_called(pid, name):
    with open(f'/proc/{pid}/comm', encoding='ascii') as f:
        return name in f.read()


def begins(pid):
    """It has done what it is called for, and computes."""
    with open(f'/proc/{pid}/stat', encoding='ascii') as f:
        return int(f.read().rsplit(')', 1)[1].split()[11]) > 0


def is_refused_as_32_bit():
    """Unless it has ended before it was looked at: it does not last."""
    with subprocess.Popen([f'{PROGRAMS}/e2e-victim32'], stdout=subprocess.DEVNULL) as program:
        p = dwell('attach', '-e', 'bbcounts', '-o', f'{harness.DIR}/no', '-d', '0.01', '-p', str(program.pid))
        program.kill()
    assert p.returncode and len(p.stderr.splitlines()) == 1, p
    return '64-bit' in p.stderr


@test
def what_cannot_be_counted_is_refused_and_left_alone():
    def refused(pid, text):
        p = dwell('attach', '-e', 'bbcounts', '-o', f'{harness.DIR}/no', '-d', '0.01', '-p', str(pid))
        assert p.returncode and text in p.stderr and len(p.stderr.splitlines()) == 1, (text, p)

    for name, text in [('no_code', '(seccomp) what the engine needs: mmap of code'),
                       ('pinned', '(seccomp) what the engine needs: madvise\n'),
                       ('deadly', '(seccomp) what the engine needs: process_vm_readv')]:
        with lasting(name) as p:
            wait_until(lambda: begins(p.pid), 'it does not begin')
            refused(p.pid, text)
            is_native(p.pid)
    # of vfork: the parent does not stop, the child has its memory
    with lasting('sharing') as p:
        refused(child_of(p.pid, lambda child: True, 'it has no child'), 'shares memory')
        refused(p.pid, 'does not stop')
        is_native(p.pid)
    with subprocess.Popen(['sleep', '100']) as p:
        p.send_signal(signal.SIGSTOP)
        wait_until(lambda: 'T (stopped)' in status(p.pid), 'it does not stop')
        refused(p.pid, 'stopped')
        p.send_signal(signal.SIGCONT)
        resource.prlimit(p.pid, resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        refused(p.pid, 'ulimit -f')
        p.kill()
    if os.path.exists(f'{PROGRAMS}/e2e-victim32'):
        wait_until(is_refused_as_32_bit, 'a 32-bit program is not refused')
    with subprocess.Popen([harness.DWELL, 'run', '-e', 'bbcounts', '-o', f'{harness.DIR}/no', '--', 'sleep', '100'], stderr=subprocess.DEVNULL) as p:
        child = child_of(p.pid, is_counted, 'it does not begin')
        refused(child, 'counted already')
        os.kill(child, signal.SIGTERM)
    if not shutil.which('strace'):
        return
    with subprocess.Popen(['strace', '-o', '/dev/null', 'sleep', '100']) as p:
        child = child_of(p.pid, lambda child: is_called(child, 'sleep'), 'it is not traced')
        refused(child, 'traces it')
        os.kill(child, signal.SIGKILL)


@test
def why_a_process_goes_on_being_counted_is_told():
    path = f'{harness.DIR}/sharer.dwell'
    with lasting('sharer') as p:
        with harness.beside(harness.DWELL, 'attach', '-e', 'bbcounts', '-o', path, '-p', str(p.pid),
                            stderr=subprocess.PIPE, text=True) as recorder:
            wait_until(lambda: is_counted(p.pid), 'it is not counted')
            directory = re.search(r'(/\S*/dwell-\d+-[^/\s]*)/of\.', maps(p.pid))[1]
            p.stdin.write('\n')
            p.stdin.flush()
            assert p.stdout.readline() == 'done\n'
            recorder.send_signal(signal.SIGINT)
            told = recorder.stderr.read()
            recorder.wait(LIMIT_S)
        assert os.path.isdir(directory) and directory in maps(p.pid), 'it was taken away from who counts there'
    assert f'\ndwell: process {p.pid} goes on being counted: a child shares its memory\n' in told, told
    assert re.search(r'name="still-counted" value=\d', dwell('cat', path).stdout), path
    # When nobody counts there any more the next recorder that begins takes it away.
    shutil.rmtree(directory, ignore_errors=True)


@test
def nothing_stays_behind():
    def places():
        return {p for place in ['/dev/shm', '/tmp'] for p in glob.glob(f'{place}/dwell-*-*')}
    with lasting('loop') as p:
        before = places()
        with harness.beside(harness.DWELL, 'attach', '-e', 'bbcounts', '-o', f'{harness.DIR}/r.dwell', '-d', '0.01', '-p', str(p.pid),
                            stderr=subprocess.DEVNULL) as recorder:
            assert recorder.wait(LIMIT_S) == 0
        assert not [x for x in places() - before if f'dwell-{recorder.pid}-' in x], places()


sys.exit(harness.run_all(harness.TESTS, words=sys.argv[3:]))
