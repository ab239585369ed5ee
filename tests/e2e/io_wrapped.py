#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""I/O seen by wrappers in the program: equal to what the kernel's side tells of the same
files, as root and as an ordinary user; and every wrapper passes on what its call returns.
usage: io_wrapped.py DWELL PROGRAM_DIR SOURCE_ROOT [WORD...]"""
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading

import harness
import io_recording
import visiting
from harness import DIR, IS_ROOT, Skip, dwell, fact, need, run_all, test, wait_until
from io_recording import FILE, rows

PROGRAMS = os.path.abspath(sys.argv[2])
IO, WRAPPED, REUSED = (os.path.join(PROGRAMS, name) for name in ('e2e-io', 'e2e-io_wrapped', 'e2e-io_reused'))
TABLE = os.path.join(sys.argv[3], 'src/wire/tracer_io_calls.def')
MANY = os.path.join(DIR, 'many')
EXACT = ('calls', 'errors', 'asked_bytes', 'read_bytes', 'written_bytes', 'sizes')


def record(*command, options=(), **more):
    return io_recording.record(*command, options=['--source', 'tracer', *options], **more)


def exact(row):
    return {k: row[k] for k in EXACT}


def of_files(wanted):
    """What is exact of the files that match, together where only their numbers differ."""
    sums = collections.defaultdict(list)
    for name, row in rows('file').items():
        if re.search(wanted, name):
            sums[re.sub(r'\d+', 'N', name)].append(exact(row))
    return {name: sorted(all_of, key=str) for name, all_of in sums.items()}


def same_as_the_kernel(wanted, *command):
    if not IS_ROOT or not harness.may_record('io', 'io'):
        raise Skip('only root may load BPF programs')
    io_recording.record(*command)
    told = of_files(wanted)
    record(*command)
    got = of_files(wanted)
    assert told and got == told, {k: (got.get(k), told.get(k)) for k in {*got, *told}
                                  if got.get(k) != told.get(k)}


@test
def plain_calls_are_those_that_the_kernel_sees():
    same_as_the_kernel(MANY, IO, 'plain', MANY)


@test
def lists_of_pieces_are_those_that_the_kernel_sees():
    same_as_the_kernel(MANY, IO, 'lists', MANY)


@test
def sockets_and_pipes_are_those_that_the_kernel_sees():
    same_as_the_kernel(r'^(UNIX|pipe|memfd|\[no file)', IO, 'sockets')


@test
def threads_are_those_that_the_kernel_sees():
    same_as_the_kernel(MANY, IO, 'threads', MANY)


@test
def thousands_of_files_are_those_that_the_kernel_sees():
    same_as_the_kernel(f'^{DIR}/f', IO, 'files', DIR)
    assert len([n for n in rows('file') if n.startswith(f'{DIR}/f')]) == 3000


@test
def a_copy_is_the_one_that_the_kernel_sees():
    shutil.copyfile(sys.executable, MANY)
    same_as_the_kernel(f'^{MANY}', 'cp', MANY, MANY + '-copy')
    same_as_the_kernel(f'^{MANY}', 'dd', f'if={MANY}', f'of={MANY}-copy', 'bs=777',
                       'conv=fsync', 'status=none')


@test
def a_database_is_the_one_that_the_kernel_sees():
    base = os.path.join(DIR, 'base')
    same_as_the_kernel(f'^{base}', sys.executable, '-c',
                       f'import os, sqlite3\nif os.path.exists({base!r}): os.unlink({base!r})\n'
                       f'd = sqlite3.connect({base!r}); d.execute("CREATE TABLE t(a, b)")\n'
                       'd.executemany("INSERT INTO t VALUES (?, ?)", ((i, str(i)) for i in range(9000)))\n'
                       'd.commit(); print(d.execute("SELECT count(*) FROM t").fetchone())')


@test
def an_interpreter_s_files_are_those_that_the_kernel_sees():
    same_as_the_kernel(r'/etc/services|no/such', sys.executable, '-S', '-B', '-c',
                       'import os; os.environ["A"] = open("/etc/services").read(); os.path.exists("/no/such")\n'
                       'try: open("/no/such/file")\nexcept OSError: pass')


def symbols():
    with open(TABLE, encoding='ascii') as f:
        return dict(re.findall(r'^IO\((\w+), (\w+), (?!NOTHING)\w+\)', f.read(), re.M))


@test
def every_wrapper_passes_on_what_its_call_returns():
    calls = symbols()
    told = subprocess.run([WRAPPED, 'symbols', *calls], stderr=subprocess.PIPE, check=True).stderr
    p = dwell('run', '-q', '-e', 'io', '--source', 'tracer', '-o', FILE, '--', WRAPPED, 'symbols', *calls)
    assert p.returncode == 0 and p.stderr == told.decode(), p.stderr
    lines = [line.split() for line in told.decode().splitlines()]
    assert [name for name, *_ in lines] == list(calls) and len(calls) > 80, told
    made = collections.Counter(calls.values())
    failed = collections.Counter(calls[name] for name, result, _ in lines if result != '0')
    got = {name: (r['calls'], r['errors']) for name, r in rows('call').items()}
    assert got == {name: (n, failed[name]) for name, n in made.items()}, (got, failed)


@test
def what_is_no_plain_file_has_its_name():
    record(WRAPPED, 'kinds')
    r = rows('file')['[eventfd]']
    assert (r['read_bytes'], r['written_bytes']) == (8, 8), r
    port = io_recording.record_client(['--source', 'tracer'])
    files = rows('file')
    name, r = next((n, r) for n, r in files.items() if n.endswith(f'->127.0.0.1:{port}'))
    assert re.fullmatch(rf'TCP 127.0.0.1:\d+->127.0.0.1:{port}', name), name
    assert r['read_bytes'] == 5000, r
    assert files['TCP socket']['calls'] >= 1, files


@test
def a_descriptor_that_becomes_another_file_s_is_that_one_s():
    folder = os.path.join(DIR, 'reused')
    os.makedirs(folder, exist_ok=True)
    told = record(REUSED, folder)
    written = {name: row['written_bytes'] for name, row in rows('connection').items()}
    files = sorted(os.listdir(folder))
    assert len(files) >= 18, files
    for name in files:
        path = os.path.join(folder, name)
        assert written.pop(path) == os.path.getsize(path) == (100 if name.endswith('-before') else 7), (name, written)
    ports = told.decode().split()
    for port, n in zip(ports, (30, 500, 7)[:max(2, len(ports))], strict=True):
        got = [bytes_to for name, bytes_to in written.items() if name.endswith(f'->127.0.0.1:{port}')]
        assert got == [n], (port, written)


@test
def a_local_socket_has_the_name_it_is_bound_to():
    path = os.path.join(DIR, 'bound')
    record(sys.executable, '-c',
           'import socket\ns, c = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)\n'
           f's.bind({path!r}); s.listen(); c.connect({path!r}); p, _ = s.accept()\n'
           'c.sendall(b"12345"); p.recv(9)')
    r = rows('file')[f'UNIX {path}']
    assert (r['read_bytes'], r['written_bytes']) == (5, 5), r


@test
def a_thread_may_be_cancelled_in_a_call():
    told = subprocess.run([WRAPPED, 'cancel'], stderr=subprocess.PIPE, check=True).stderr
    p = dwell('run', '-q', '-e', 'io', '--source', 'tracer', '-o', FILE, '--', WRAPPED, 'cancel')
    assert p.stderr == told.decode() == 'cleaned\n1\n', p.stderr
    # It has not returned.
    r = rows('call')['read']
    assert r['calls'] == 0 and r['ns'] > 50e6, r


@test
def signals_interrupt_calls_as_ever():
    p = dwell('run', '-q', '-e', 'io', '--source', 'tracer', '-o', FILE, '--', WRAPPED, 'interrupted')
    assert p.stderr == '-1 1\n1\n', p.stderr
    calls = rows('call')
    # The one that was left by a jump did not return.
    assert (calls['read']['calls'], calls['read']['errors'], calls['read']['read_bytes']) == (2, 1, 1), calls
    assert calls['write']['calls'] >= 2 and calls['write']['written_bytes'] == 1, calls


@test
def children_have_their_own_calls():
    record(WRAPPED, 'children')
    p = dwell('io', '--json', '--by', 'process', FILE)
    written = sorted(r['written_bytes'] for r in json.loads(p.stdout)['rows'] if r['written_bytes'])
    assert written == [3, 7], p.stdout


@test
def a_call_that_never_returns_has_its_time():
    p = subprocess.Popen([harness.DWELL, 'run', '-q', '-e', 'io', '--source', 'tracer', '-o', FILE, '--',
                          'sh', '-c', f'echo $$ >&2; exec {WRAPPED} blocked'],
                         stderr=subprocess.PIPE, text=True)
    pid = int(p.stderr.readline())
    assert p.stderr.readline() == 'here\n'
    threading.Event().wait(.5)
    os.kill(pid, signal.SIGKILL)
    p.communicate(timeout=60)
    r = rows('call')['read']
    assert r['calls'] == 0 and r['ns'] > 50e6, r


@test
def what_hangs_is_listed_when_it_is_killed():
    io_recording.what_hangs_is_listed_when_it_is_killed(['--source', 'tracer'])


@test
def who_never_meets_anybody_or_is_never_read_from_waits_all_the_same():
    io_recording.endless_waits_have_their_time(['--source', 'tracer'])


FIFO = f'{DIR}/nobody'
OPENS = f'import os, signal; os.mkfifo({FIFO!r}); signal.setitimer(signal.ITIMER_REAL, .5)\n'


@test
def who_opens_a_fifo_in_vain_waits_all_the_same():
    p = dwell('run', '-q', '-e', 'io', '--source', 'tracer', '-o', FILE, '--', sys.executable, '-c',
              f'{OPENS}os.open({FIFO!r}, os.O_RDONLY)')
    os.unlink(FIFO)
    assert p.returncode == 128 + signal.SIGALRM, p
    row = rows('file')[FIFO]
    assert row['calls'] == 0 and row['ns'] > 50e6, row


@test
def a_fifo_that_is_opened_in_the_end_is_one_call():
    os.mkfifo(FIFO)
    p = dwell('run', '-q', '-e', 'io', '--source', 'tracer', '-o', FILE, '--', 'sh', '-c',
              f'sleep .3 >{FIFO} & {sys.executable} -c "import os; os.close(os.open(\'{FIFO}\', os.O_RDONLY))"; wait')
    os.unlink(FIFO)
    assert p.returncode == 0, p
    opened = rows('call', '--filter', f'function == "{FIFO}"')['open']
    assert opened['calls'] == 2 and opened['errors'] == 0, opened


ATTACHED = f"""
import os, sys
fd = os.open({DIR!r} + '/attached', os.O_RDWR | os.O_CREAT)
print('ready', flush=True)
for line in sys.stdin:
    for _ in range(100):
        os.pwrite(fd, b'x' * 100, 0)
        os.pread(fd, 50, 0)
    print('done', flush=True)
"""


def need_attaching():
    if os.uname().machine != 'x86_64':
        raise Skip('nothing is put into processes of this CPU')
    if visiting.why_not():
        raise Skip(visiting.why_not())


@test
def a_program_that_runs_already_is_seen_from_then_on():
    need_attaching()
    with visiting.obeying(visiting.Program(sys.executable, '-c', ATTACHED)) as p:
        p.tell('before')
        with visiting.attached(p.pid, FILE, '-e', 'io', '--source', 'tracer'):
            p.tell('meanwhile')
        visiting.check_left(p.pid)
        p.tell('behind')
    row = rows('file')[f'{DIR}/attached']
    assert (row['calls'], row['written_bytes'], row['read_bytes']) == (200, 10000, 5000), row


@test
def where_threads_may_be_cancelled_the_others_that_are_asked_for_are_recorded():
    need_attaching()
    with subprocess.Popen([WRAPPED, 'blocked'], stderr=subprocess.PIPE, text=True) as p:
        try:
            assert p.stderr.readline() == 'here\n'
            alone = visiting.refusal('-e', 'io', '--source', 'tracer', '-p', str(p.pid))
            assert 'calls pthread_cancel()' in alone, alone
            d = dwell('attach', '-e', 'heap,io', '--source', 'tracer', '-p', str(p.pid), '-d', '0.1', '-o', FILE)
            assert d.returncode == 0, d.stderr
            assert 'not recorded: io: ' in d.stderr and 'calls pthread_cancel()' in d.stderr, d.stderr
            visiting.check_left(p.pid)
        finally:
            p.kill()


@test
def where_threads_of_one_may_be_cancelled_the_others_that_are_named_are_recorded():
    need_attaching()
    with subprocess.Popen([WRAPPED, 'blocked'], stderr=subprocess.PIPE, text=True) as other, \
            visiting.obeying(visiting.Program(sys.executable, '-c', ATTACHED)) as p:
        try:
            assert other.stderr.readline() == 'here\n'
            with visiting.attached(p.pid, FILE, '-e', 'io', '--source', 'tracer', '-p', str(other.pid)):
                p.tell('meanwhile')
            visiting.check_left(p.pid)
            visiting.check_left(other.pid)
            row = rows('file')[f'{DIR}/attached']
            assert (row['calls'], row['written_bytes'], row['read_bytes']) == (200, 10000, 5000), row
            source, = json.loads(dwell('report', '--json', FILE).stdout)['sources']
            assert [(x['name'], x['processes']) for x in source['not_followed']] == [('e2e-io_wrapped', 1)], source
            assert 'calls pthread_cancel()' in source['not_followed'][0]['why'], source
        finally:
            other.kill()


LOADING = ATTACHED.replace('for line in sys.stdin:', """import ctypes
for line in sys.stdin:
    if 'load' in line:
        ctypes.CDLL(line.split()[1])""")


@test
def a_program_whose_threads_may_be_cancelled_from_now_on_is_left():
    need_attaching()
    with visiting.obeying(visiting.Program(sys.executable, '-c', LOADING)) as p:
        with visiting.attached(p.pid, FILE, '-e', 'io', '--source', 'tracer') as d:
            p.tell('meanwhile')
            p.tell(f'load {PROGRAMS}/libe2e-cancelling.so')
            wait_until(lambda: not visiting.n_led(p.pid), 'it is not left')
            p.tell('behind')
            assert d.poll() is None
        visiting.check_left(p.pid)
        row = rows('file')[f'{DIR}/attached']
    assert 200 <= row['calls'] <= 400, row
    source, = json.loads(dwell('report', '--json', FILE).stdout)['sources']
    assert [x['why'].split(':')[0] for x in source['not_followed']] == ['only until it loaded a library'], source


@test
def a_call_that_a_jump_has_left_is_over_with_the_next():
    p = dwell('run', '-q', '-e', 'io', '--source', 'tracer', '-o', FILE, '--', WRAPPED, 'left')
    assert p.returncode == 0 and p.stderr == '', p
    calls = rows('call')
    assert calls['close']['calls'] == 1 and calls.get('read', {'ns': 0})['ns'] == 0, calls


@test
def sums_have_the_time_of_their_last_call():
    record(WRAPPED, 'seldom')
    lines = dwell('cat', FILE).stdout.splitlines()
    event = next(line.split()[1] for line in lines if re.match(r'event \d+ name="io-calls"', line))
    times = sorted(int(m[1]) for line in lines
                   if (m := re.match(rf'sample event={event} .*?\btime_ns=(\d+)', line)))
    assert len(times) == 2 and times[1] - times[0] >= 2e9, (times, lines)


@test
def a_mark_lies_between_the_calls_before_it_and_those_behind():
    script = ('import os\n'
              f'f = os.open({MANY + ".marked"!r}, os.O_CREAT | os.O_WRONLY)\n'
              'os.write(f, bytes(5000)); print("ready", flush=True); input(); os.write(f, bytes(300))\n')
    harness.run_in_steps(['-e', 'io', '--source', 'tracer', '-S', '0', '-o', FILE],
                         [sys.executable, '-c', script], [('mark', 'here')])
    for chosen, told in ('mark == here', 5000), ('cause == end', 300):
        written = rows('file', '--filter', chosen)[MANY + '.marked']['written_bytes']
        assert written == told, (chosen, written)


# Who reads a pipe before a pause, and who in it, have it until after; and three writes.
PAUSED = """
import json, os, sys, threading, time
f = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
told = {}
def read(pipe):
    began = time.monotonic()
    os.read(pipe[0], 1)
    told[f'pipe:[{os.fstat(pipe[0]).st_ino}]'] = time.monotonic() - began
def starts_to_read():
    pipe = os.pipe()
    t = threading.Thread(target=read, args=(pipe,))
    t.start()
    while open(f'/proc/self/task/{t.native_id}/syscall').read().split()[1:2] != [hex(pipe[0])]:
        time.sleep(0.01)
    return pipe, t
def step():
    print('ready', flush=True)
    input()
os.write(f, bytes(1000))
both = [starts_to_read()]
step()
os.write(f, bytes(2000))
both.append(starts_to_read())
time.sleep(0.5)
step()
os.write(f, bytes(300))
for pipe, t in both:
    os.write(pipe[1], b'x')
    t.join()
json.dump(told, open(sys.argv[1] + '.told', 'w'))
"""


def what_is_in_a_pause_is_left_out(*source):
    path = MANY + '.paused'
    harness.run_in_steps(['-e', 'io', '--toggle', 'USR2', *source, '-o', FILE],
                         [sys.executable, '-c', PAUSED, path], [('pause',), ('resume',)])
    files = rows('file')
    with open(path + '.told', encoding='utf-8') as f:
        walls = json.load(f)
    assert files[path]['written_bytes'] == 1300, files[path]
    assert len(walls) == 2, walls
    for name, wall_s in walls.items():
        assert files[name]['read_bytes'] == 1, files[name]
        assert 0 < files[name]['ns'] / 1e9 < wall_s - 0.5, (files[name], wall_s)
        assert max(d['from'] for d in files[name]['durations_ns']) <= files[name]['ns'], files[name]


@test
def a_pause_is_left_out():
    what_is_in_a_pause_is_left_out('--source', 'tracer')


@test
def a_pause_is_left_out_by_the_kernel_too():
    if not IS_ROOT or not harness.may_record('io', 'io'):
        raise Skip('only root may load BPF programs')
    what_is_in_a_pause_is_left_out()


@test
def callers_are_those_who_call():
    record(IO, 'callers', MANY)
    calls = collections.Counter()
    for row in rows('stack').values():
        names = [f['name'] for f in row['frames']]
        for name in ('writes_little', 'writes_much'):
            if name in names and 'main' in names:
                calls[name] += row['written_bytes']
    assert calls == {'writes_little': 3000 * 16, 'writes_much': 3000 * 4096}, calls
    stacks = exact(rows('file')[MANY])
    record(IO, 'callers', MANY, options=['--flat'])
    assert exact(rows('file')[MANY]) == stacks and set(rows('stack')) == {'[no stack]'}, rows('stack')


@test
def an_ordinary_user_gets_them_unasked_and_is_told_what_is_missing():
    ask = []
    if IS_ROOT:
        need('setpriv')
        ask = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--']
    with open(MANY, 'wb') as f:
        f.write(b'x' * 10000)
    os.chmod(MANY, 0o644)
    path = os.path.join(DIR, 'open', 'user.dwell')
    os.mkdir(os.path.dirname(path), 0o777)
    os.chmod(os.path.dirname(path), 0o777)
    os.chmod(DIR, 0o755)
    p = subprocess.run([*ask, harness.DWELL, 'run', '-q', '-e', 'io,heap', '-o', path, '--', 'cat', MANY],
                       capture_output=True, text=True, check=False, cwd=os.path.dirname(path))
    assert p.returncode == 0 and p.stdout == 'x' * 10000, p
    assert rows('file', path=path)[MANY]['read_bytes'] == 10000
    text = dwell('io', path).stdout
    assert 'Seen by wrappers' in text and 'stdio' in text, text
    report = json.loads(dwell('report', '--json', path).stdout)
    assert fact(report, 'wrapped-io', 'rate') == 1, report['quality']


@test
def nothing_is_asked_where_a_filter_was_inherited():
    record(os.path.join(PROGRAMS, 'e2e-victim'), 'seccomp-inherited')
    last = rows('file')['[file not asked for]']
    assert last['written_bytes'] == len('goes on\nhandled\n') and last['calls'] >= 6, last


@test
def what_the_c_library_calls_itself_is_not_seen():
    record('sh', '-c', 'exec sort /etc/services')
    # By stdio, though it is opened.
    assert rows('file')['/etc/services']['read_bytes'] == 0 < rows('file')['/etc/services']['calls']


if __name__ == '__main__':
    sys.exit(run_all(harness.TESTS, words=sys.argv[4:]))
