#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hard days: recorders that are killed, limited, interrupted and out of space, programs
that outlive them.  What was taken remains; every refusal is one line.  What programs do
to themselves is in untouched.py, what commands are fed in hostile.py.
usage: torture.py DWELL WORKLOAD_DIR PROGRAM_DIR"""
import json
import os
import pty
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from shlex import quote

import harness
from harness import DIR, DWELL, IS_ROOT, TESTS, Skip, may_record, run_all, test, wait_until

WORKLOADS, PROGRAMS = (os.path.abspath(p) for p in sys.argv[2:4])
FILE = os.path.join(DIR, 'x.dwell')
CPU = os.path.join(WORKLOADS, 'cpu')
VICTIM = os.path.join(PROGRAMS, 'e2e-victim')
STATIC = os.path.join(PROGRAMS, 'e2e-victim-static')


def dwell(*args, **more):
    """Its output as the bytes that it is."""
    return harness.dwell(*args, **{'text': False, 'stdin': subprocess.DEVNULL, **more})


WAYS = [(e, s) for e in ('usertime', 'pcsamp', 'totaltime', 'faults')
        for s in ('perf', 'timer') if may_record(s, e)]
CPU_WAYS = [w for w in WAYS if w[0] == 'usertime']


def remove(path):
    if os.path.lexists(path):
        os.unlink(path)


def options(way, *more):
    experiment, source = way
    interval = [] if experiment == 'faults' else ['-i', '1ms']
    return ['run', '-q', '-e', experiment, '--source', source, *interval, *more]


def report(path=FILE):
    return harness.report(path)


def report_part(path=FILE):
    """Readable, and it tells that something is missing."""
    p = dwell('report', '--json', '--limit', '0', path)
    r = json.loads(p.stdout)
    damage = r['quality']['sources'][0]['damage']
    if p.returncode == 0:
        assert damage is None and 'after ' in r['sources'][0]['ends-early'], r
    else:
        assert p.returncode == 1 and damage.startswith('unfinished'), p
    return r


@test
def a_static_program_is_refused_by_timers():
    p = dwell('run', '--source', 'timer', '-o', FILE, '--', STATIC)
    assert p.returncode == 1 and one_line(p.stderr) and b'static' in p.stderr, p


@test
def a_directory_deleted_before():
    path = os.path.join(DIR, 'gone')
    os.mkdir(path)
    script = f'cd {path} && rmdir {path} && exec '
    for way in WAYS:
        p = subprocess.run(['sh', '-c', script + shlex.join(
            [DWELL, *options(way), '-o', FILE, '--', 'sh', '-c', 'echo here'])],
            capture_output=True, timeout=60)
        assert (p.returncode, p.stdout) == (0, b'here\n'), p
        os.mkdir(path)


@test
def limits_are_the_programs_own():
    for limit in ('ulimit -n 16', 'ulimit -n 16; ulimit -f 1000', 'ulimit -v 2000000',
                  'ulimit -u 3000', 'ulimit -l 0', 'ulimit -s 256'):
        plain = subprocess.run(['sh', '-c', f'{limit}; exec {quote(VICTIM)} limits'],
                               capture_output=True, timeout=60)
        for way in WAYS:
            p = subprocess.run(['sh', '-c', f'{limit}; exec {quote(DWELL)} ' + ' '.join(
                options(way)) + f' -o {FILE} -- {quote(VICTIM)} limits'], capture_output=True,
                timeout=60)
            assert (p.returncode, p.stdout) == (0, plain.stdout), (limit, way, plain, p)


@test
def no_file_may_be_written():
    proof = os.path.join(DIR, 'proof')
    p = subprocess.run(['sh', '-c', f'ulimit -f 0; exec {quote(DWELL)} run -o {FILE} -- '
                        f'mkdir {proof}'], capture_output=True, timeout=60)
    assert p.returncode == 1 and one_line(p.stderr) and b'too large' in p.stderr, p
    assert not os.path.exists(proof)


def mounted(size):
    if not IS_ROOT:
        raise Skip('needs root, to mount a small file system')
    path = tempfile.mkdtemp(dir=DIR)
    p = subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={size}', 'none', path],
                       capture_output=True)
    if p.returncode:
        raise Skip('mounting is not permitted here')
    return path


@test
def a_full_disk():
    path = mounted('256k')
    cpu = quote(CPU)
    try:
        for way in WAYS:
            file = os.path.join(path, 'x.dwell')
            filler = os.path.join(path, 'filler')
            script = f'{cpu} 2; cat /dev/zero >{filler} 2>/dev/null; {cpu} 4; exit 6'
            quiet = [o for o in options(way) if o != '-q']
            p = dwell(*quiet, '--trace', '-o', file, '--', 'sh', '-c', script)
            assert p.returncode == 6, (way, p)
            ends_early = b'recording ends early' in p.stderr
            assert not ends_early or b'No space left' in p.stderr, (way, p)
            (report_part if ends_early else report)(file)
            remove(file)
            remove(filler)
    finally:
        subprocess.run(['umount', path])


@test
def a_full_disk_is_told_of_what_is_traced():
    path = mounted('512k')
    file = os.path.join(path, 'x.dwell')
    script = 'cat /dev/zero >filler 2>/dev/null; sleep 0.5; echo here; exit 6'
    try:
        # what is seldom has less to tell than is left
        for way in ('heap', 'io', 'sync,heap', 'fpe,heap', 'regions,heap', 'usertime,heap'):
            p = subprocess.run([DWELL, 'run', '-q', '-e', way, '-o', file, '--', 'sh', '-c', script],
                               capture_output=True, timeout=60, cwd=path)
            assert p.returncode == 6 and p.stdout == b'here\n', (way, p)
            assert one_line(p.stderr) and b'ends early' in p.stderr and b'No space left' in p.stderr, (way, p)
            # nothing of it is broken: what is missing is told in it
            p = subprocess.run([DWELL, 'report', file], capture_output=True, timeout=60)
            assert p.returncode == 0 and b'ends early, after' in p.stdout and b'unfinished' not in p.stdout, (way, p)
            remove(file)
            remove(os.path.join(path, 'filler'))
    finally:
        subprocess.run(['umount', path])


@test
def a_disk_full_from_the_beginning():
    path = mounted('4k')
    try:
        with open(os.path.join(path, 'filler'), 'wb') as f:
            try:
                f.write(bytes(65536))
                f.flush()
            except OSError:
                pass
    except OSError:
        pass
    try:
        for way in WAYS:
            p = dwell('run', *options(way)[2:], '-o', os.path.join(path, 'x.dwell'), '--',
                      'sh', '-c', 'echo here; exit 6')
            assert p.returncode in (1, 6) and b'No space left' in p.stderr, (way, p)
            assert p.stdout == (b'here\n' if p.returncode == 6 else b''), (way, p)
    finally:
        subprocess.run(['umount', path])


@test
def recording_limits():
    for limit in ('-f 1', '-f 16'):
        for way in CPU_WAYS:
            remove(FILE)
            p = subprocess.run(['sh', '-c', f'ulimit {limit}; exec {quote(DWELL)} run ' +
                                ' '.join(options(way)[2:]) +
                                f' --trace -o {FILE} -- {quote(CPU)} 5'], capture_output=True,
                               timeout=60)
            if way[1] == 'timer' and p.returncode == 1:
                assert one_line(p.stderr) and b'too large' in p.stderr, (limit, way, p)
                continue  # the sampler's own file is larger than that
            assert p.returncode == 0 and p.stdout.strip().isdigit(), (limit, way, p)
            ends_early = b'recording ends early' in p.stderr
            assert not ends_early or b'File too large' in p.stderr, (way, p)
            (report_part if ends_early else report)()


def wait_for(what):
    wait_until(what, 'it never happened')


def has(path, text):
    return os.path.exists(path) and text in open(path).read()


def started(way, *args, **more):
    """dwell on the victim, which has said that it is ready."""
    remove(FILE)
    p = subprocess.Popen([DWELL, *options(way), '-o', FILE, '--', VICTIM, *args],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
    assert p.stdout.readline() == b'ready\n'
    return p


def has_samples():
    """Whether a recording that is being made holds samples that nobody can take back."""
    p = dwell('report', '--json', FILE)
    return p.stdout and sum(json.loads(p.stdout)['total'].values()) > 0


@test
def a_killed_recorder():
    for way in [w for w in WAYS if w[0] in ('usertime', 'totaltime')]:
        mark = os.path.join(DIR, 'mark')
        remove(mark)
        p = started(way, 'goes-on', mark)
        wait_for(has_samples)
        p.kill()
        p.wait()
        wait_for(lambda: has(mark, 'went on'))
        r = report_part()
        assert sum(r['total'].values()) > 0, (way, r)
        p.stdout.close()
        p.stderr.close()


def only_child(pid):
    with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as f:
        return int(f.read())


@test
def a_killed_recorder_and_program():
    for way in [w for w in WAYS if w[0] in ('usertime', 'totaltime')]:
        p = started(way, 'goes-on', os.path.join(DIR, 'mark'))
        program = only_child(p.pid)
        wait_for(has_samples)
        p.send_signal(signal.SIGSTOP)  # so that it cannot end in order meanwhile
        os.kill(program, signal.SIGKILL)
        p.kill()
        p.communicate(timeout=60)
        r = report_part()
        assert sum(r['total'].values()) > 0, (way, r)


@test
def a_terminated_recorder():
    for way in CPU_WAYS:
        for number in (signal.SIGTERM, signal.SIGHUP):
            mark = os.path.join(DIR, 'mark')
            remove(mark)
            p = started(way, 'goes-on', mark)
            time.sleep(0.1)
            p.send_signal(number)
            p.communicate(timeout=60)
            assert p.returncode in (128 + 15, 128 + number), p.returncode
            wait_for(lambda: has(mark, 'went on'))
            report()


@test
def an_interrupt_reaches_the_program_once():
    """Ctrl-C on a terminal: to the whole group, once."""
    for way in WAYS:
        remove(FILE)
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(DWELL, [DWELL, *options(way), '-o', FILE, '--', VICTIM,
                             'interrupts'])
        seen = b''
        while b'ready' not in seen:
            seen += os.read(terminal, 4096)
        os.write(terminal, b'\x03')
        try:
            while True:
                more = os.read(terminal, 4096)
                if not more:
                    break
                seen += more
        except OSError:
            pass
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
        assert b'interrupted 1\r\n' in seen and os.waitstatus_to_exitcode(status) == 0, \
            (way, seen, status)
        report()


def read_until(terminal, text):
    seen = b''
    while text not in seen:
        assert select.select([terminal], [], [], 60)[0], ('nothing more comes', seen)
        seen += os.read(terminal, 4096)


@test
def a_stop_from_the_terminal_stops_both():
    """Ctrl-Z and fg, under a shell with job control."""
    for way in WAYS:
        mark = os.path.join(DIR, 'mark')
        remove(mark)
        remove(FILE)
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvp('bash', ['bash', '--norc', '--noprofile', '-i'])
        command = shlex.join([DWELL, *options(way), '-o', FILE, '--', VICTIM, 'goes-on',
                              mark])
        os.write(terminal, f'PS1=; {command}; echo code $?\n'.encode())
        read_until(terminal, b'ready\r\n')
        os.write(terminal, b'\x1a')
        read_until(terminal, b'Stopped')
        time.sleep(0.2)
        assert not has(mark, 'went on')
        os.write(terminal, b'fg >/dev/null; echo then $?; exit\n')
        read_until(terminal, b'then 0')
        os.waitpid(pid, 0)
        os.close(terminal)
        assert has(mark, 'went on')
        report()


@test
def an_interrupt_to_the_recorder_alone_is_not_the_programs():
    for way in CPU_WAYS:
        p = started(way, 'interrupts')
        p.send_signal(signal.SIGINT)
        out, _ = p.communicate(timeout=60)
        assert p.returncode == 0 and out == b'interrupted 0\n', (way, out, p.returncode)


@test
def a_program_that_outlives_its_parent():
    for way in WAYS:
        mark = os.path.join(DIR, 'mark')
        remove(mark)
        remove(mark + '.end')
        p = dwell(*options(way), '-o', FILE, '--', VICTIM, 'daemon', mark)
        assert (p.returncode, p.stdout, p.stderr) == (0, b'', b''), (way, p)
        assert not has(mark, 'done'), f'{way}: waited for what outlives the program'
        left = [f['value'] for f in report()['quality']['facts']
                if f['name'] == 'running-processes']
        # The timers' buffer of a new process is known when it has been claimed.
        assert left[0] >= (way[1] == 'perf'), (way, left)
        open(mark + '.end', 'w').close()
        wait_for(lambda: has(mark, 'the daemon is done'))


@test
def programs_that_cannot_run():
    text = os.path.join(DIR, 'text')
    with open(text, 'w') as f:
        f.write('no program')
    os.chmod(text, 0o644)
    for way in WAYS:
        for name, code in (('/no/such/program', 127), ('no-such-program', 127),
                           (text, 126), (DIR, 126)):
            remove(FILE)
            p = dwell(*options(way), '-o', FILE, '--', name)
            assert p.returncode == code and one_line(p.stderr), (way, name, p)
            assert not os.path.exists(FILE), (way, name)


@test
def recordings_that_cannot_be_written():
    proof = os.path.join(DIR, 'proof')
    for path in ('/no/such/directory/x', '/proc/x', DIR):
        p = dwell('run', '-o', path, '--', 'touch', proof)
        assert p.returncode == 1 and one_line(p.stderr) and path.encode() in p.stderr, p
        assert not os.path.exists(proof), path


def one_line(text):
    return text.count(b'\n') == 1 and text.startswith(b'dwell') and len(text) < 500


# Attaching.

def attach(*args, **more):
    remove(FILE)
    return dwell('attach', '-q', '-i', '1ms', '-o', FILE, *args, **more)


def spawned(*args):
    return subprocess.Popen(args, stdout=subprocess.DEVNULL)


@test
def attach_to_threads_that_run():
    if ('usertime', 'perf') not in WAYS:
        raise Skip('perf_event_open is not permitted here')
    target = spawned(os.path.join(WORKLOADS, 'mt'), '20000')
    try:
        time.sleep(0.2)
        for whom in ('-p', '-t'):
            p = attach(whom, str(target.pid), '-d', '0.3s')
            assert (p.returncode, p.stderr) == (0, b''), p
            assert target.poll() is None
            report()
    finally:
        target.kill()
        target.wait()


@test
def attach_to_what_ends_meanwhile():
    for _ in range(3):
        target = spawned('sleep', '0.05')
        begin = time.time()
        p = attach('-p', str(target.pid), '-d', '100s')
        assert p.returncode in (0, 1) and time.time() - begin < 60, p
        assert p.returncode == 0 or one_line(p.stderr), p
        target.wait()


@test
def attach_to_nobody():
    for args in (('-p', '4194303'), ('-t', '4194303'), ('-p', '0'), ('-p', 'x')):
        p = attach(*args, '-d', '1s')
        assert p.returncode in (1, 2) and one_line(p.stderr), p
        assert not os.path.exists(FILE), args


@test
def attach_to_the_machine():
    if not IS_ROOT:
        raise Skip('needs root')
    for args in (('-a',), ('--cpu', '0')):
        target = spawned(CPU, '300')
        os.sched_setaffinity(target.pid, {0})
        p = attach(*args, '-d', '0.5s')
        target.kill()
        target.wait()
        assert (p.returncode, p.stderr) == (0, b''), p
        assert report()['total']['cpu-time'] > 1e8
    p = attach('--cpu', '4000', '-d', '1s')
    assert p.returncode in (1, 2) and one_line(p.stderr), p


# Other users.

def public_directory():
    path = tempfile.mkdtemp(dir=DIR)
    os.chmod(DIR, 0o755)
    os.chmod(path, 0o777)
    for program in (DWELL, VICTIM, CPU):
        shutil.copy(program, path)
    return path


@test
def run_as_another_user():
    if not IS_ROOT:
        raise Skip('needs root')
    path = public_directory()
    file = os.path.join(path, 'x.dwell')
    for way in WAYS:
        p = dwell(*options(way), '-u', 'nobody', '-o', file, '--', 'sh', '-c',
                  'id -un; id -gn; echo $HOME')
        assert p.returncode == 0 and p.stdout.startswith(b'nobody\n'), (way, p)
        st = os.stat(file)
        assert (st.st_uid, st.st_mode & 0o777) == (0, 0o600), (way, st)
        os.unlink(file)
    env = {**os.environ, 'SUDO_UID': '65534', 'SUDO_GID': '65534'}
    for way in CPU_WAYS:
        p = dwell(*options(way), '-o', file, '--', CPU, '1', env=env)
        st = os.stat(file)
        assert (st.st_uid, st.st_gid, st.st_mode & 0o777) == (65534, 65534, 0o600), st
        os.unlink(file)


@test
def a_user_who_may_not_see_the_kernel_counts_no_zeros():
    """Switches happen in the kernel: without it they are not counted, which is not 0."""
    if not IS_ROOT or not shutil.which('setpriv'):
        raise Skip('needs root and setpriv')
    path = public_directory()
    with open('/proc/sys/kernel/perf_event_paranoid', encoding='ascii') as f:
        if int(f.read()) < 2:
            raise Skip('users may see the kernel here')
    p = subprocess.run(['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--',
                        './dwell', 'count', 'sleep', '0.1'],
                       capture_output=True, text=True, timeout=60, cwd=path)
    line = next(x for x in p.stderr.splitlines() if 'context-switches' in x)
    assert line.split()[0] == '–' and 'paranoid' in line, p.stderr
    assert 'outside the kernel' in p.stderr, p.stderr


@test
def strangers_are_refused():
    if not IS_ROOT or not shutil.which('setpriv'):
        raise Skip('needs root and setpriv')
    path = public_directory()
    as_user = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--']
    target = spawned('sleep', '30')
    try:
        p = subprocess.run([*as_user, os.path.join(path, 'dwell'), 'attach', '-d', '1s',
                            '-o', os.path.join(path, 'a.dwell'), '-p', str(target.pid)],
                           capture_output=True, timeout=60, cwd=path)
        assert p.returncode == 1 and one_line(p.stderr), p
        assert not os.path.exists(os.path.join(path, 'a.dwell'))
    finally:
        target.kill()
        target.wait()
    for args in (('su', '--version'), ('./e2e-victim', 'interrupted'),
                 ('./e2e-victim', 'children'), ('sh', '-c', 'su --help')):
        plain = subprocess.run([*as_user, *args], capture_output=True, cwd=path)
        p = subprocess.run([*as_user, './dwell', 'run', '-q', '-i', '1ms', '-o', 'u.dwell',
                            '--', *args], capture_output=True, timeout=60, cwd=path)
        if args[0] == 'su' and p.returncode == 1:
            assert one_line(p.stderr), p
            continue
        assert (p.returncode, p.stdout, p.stderr) == \
            (plain.returncode, plain.stdout, plain.stderr), (args, plain, p)


def left_directories():
    return {n for n in os.listdir('/dev/shm') if n.startswith('dwell-')}


def record_true(way):
    remove(FILE)
    p = dwell(*options(way), '-o', FILE, '--', 'true')
    assert (p.returncode, p.stderr) == (0, b''), p


@test
def what_a_killed_recorder_leaves_is_removed_by_the_next():
    way = ('usertime', 'timer')
    if way not in WAYS or not os.path.isdir('/dev/shm'):
        raise Skip('no timer source here')
    before = left_directories()
    mark = os.path.join(DIR, 'mark')
    remove(mark)
    p = started(way, 'goes-on', mark)
    p.kill()
    p.wait()
    left = {n for n in left_directories() - before if f'-{p.pid}-' in n}
    assert len(left) == 1, left
    record_true(way)
    assert left <= left_directories(), 'removed while the program is there'
    wait_for(lambda: has(mark, 'went on'))

    def is_removed():
        record_true(way)
        return not left & left_directories()
    wait_for(is_removed)  # once the program has ended
    p.stdout.close()
    p.stderr.close()


if __name__ == '__main__':
    sys.exit(run_all(TESTS, words=sys.argv[4:]))
