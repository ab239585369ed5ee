# SPDX-License-Identifier: Apache-2.0
"""A machine that is emulated, with what this one may lack: Debian's own kernel, which is older,
performance counters, a sleep; and a shell on its console that runs what it is told."""
import collections
import glob
import json
import os
import select
import shutil
import socket
import subprocess
import time

from initramfs import Initramfs

# Where ./check puts kernels.
CACHE = os.path.join(os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'dwell')
Kind = collections.namedtuple('Kind', 'options console check')
KINDS = {
    'aarch64': Kind(('-machine', 'virt'), 'ttyAMA0', 'aarch64'),
    'x86_64': Kind(('-machine', 'q35', '-cpu', 'max'), 'ttyS0', 'gcc'),
}
BOOT_S = 300
MARK = '@@@'
# Lines of the console are cut by the kernel's terminal beyond this.
COMMAND_MAX = 4000
INIT = f'''#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t tracefs trace /sys/kernel/tracing
mount -t bpf bpf /sys/fs/bpf
stty -echo -onlcr </dev/console
echo "{MARK} ready"
while read -r line; do
	eval "$line" </dev/null
	echo "{MARK} $?"
done </dev/console
poweroff -f
'''


class GuestError(Exception):
    """It did not start, or did not answer."""


class Finished:
    def __init__(self, code, text):
        self.code, self.text = code, text


def folder(machine):
    return os.path.join(CACHE, 'guest-' + machine)


def kernels(machine):
    return sorted(glob.glob(os.path.join(folder(machine), 'boot/vmlinuz-*')))


def why_none(machine):
    """What is missing for a guest here, or None."""
    if not shutil.which('qemu-system-' + machine):
        return f'no qemu-system-{machine} here'
    if not kernels(machine):
        return f'no kernel in {folder(machine)}: ./check {KINDS[machine].check} fetches one'
    return None


class Guest:
    """programs: {name in the guest: path here}."""

    def __init__(self, machine, sysroots, programs, options):
        self.machine, self.kind = machine, KINDS[machine]
        own = os.path.join(os.environ.get('TMPDIR', '/tmp'), f'dwell-guest-{os.getpid()}')
        self.image, self.control = own, own + '.qmp'
        self.write_image(sysroots, programs)
        self.child = subprocess.Popen(
            ['qemu-system-' + machine, *self.kind.options, '-m', '1G', '-display', 'none', '-monitor',
             'none', '-qmp', f'unix:{self.control},server=on,wait=off', '-nic', 'none',
             '-no-reboot', '-serial', 'stdio', '-kernel', kernels(machine)[-1], '-initrd',
             self.image, '-append', f'console={self.kind.console} quiet panic=-1', *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.pending = b''
        try:
            self.until_mark(BOOT_S)
        except GuestError:
            self.close()
            raise

    def write_image(self, sysroots, programs):
        tree = Initramfs(sysroots)
        for name in ('proc', 'sys', 'dev', 'tmp', 'bin', 'lib'):
            tree.directory(name)
        tree.link('lib64', 'lib')
        with open(os.path.join(folder(self.machine), 'bin/busybox'), 'rb') as f:
            tree.file('bin/busybox', f.read())
        for name, path in programs.items():
            tree.program(name, path)
        tree.file('init', INIT.encode())
        with open(self.image, 'wb') as f:
            f.write(tree.finish())

    def until_mark(self, seconds):
        """What was written before the next mark, and what stands behind that."""
        deadline = time.time() + seconds
        mark = MARK.encode()
        while True:
            at = self.pending.find(mark)
            end = self.pending.find(b'\n', at) if at >= 0 else -1
            if end >= 0:
                text, word = self.pending[:at], self.pending[at + len(mark):end]
                self.pending = self.pending[end + 1:]
                return text.decode(errors='replace'), word.decode().strip()
            left = deadline - time.time()
            readable = select.select([self.child.stdout], [], [], max(left, 0))[0]
            data = os.read(self.child.stdout.fileno(), 65536) if readable else b''
            if not data:
                why = 'ended' if readable else f'did not answer for {seconds} s'
                tail = self.pending[-1500:].decode(errors='replace')
                raise GuestError(f'the guest {why}: {tail}')
            self.pending += data

    def begin(self, command):
        """A line of its shell."""
        assert len(command) < COMMAND_MAX and '\n' not in command
        self.child.stdin.write(command.encode() + b'\n')
        self.child.stdin.flush()

    def end(self, seconds):
        """Of what was begun."""
        text, word = self.until_mark(seconds)
        return Finished(int(word), text)

    def run(self, command, seconds=120):
        self.begin(command)
        return self.end(seconds)

    def tell_emulator(self, *commands):
        """Commands of the emulator itself; what it answered to the last."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(60)
            s.connect(self.control)
            with s.makefile('rw') as f:
                f.readline()  # its greeting
                for command in ('qmp_capabilities', *commands):
                    f.write(json.dumps({'execute': command}) + '\n')
                    f.flush()
                    answer = json.loads(f.readline())
                    while 'event' in answer:
                        answer = json.loads(f.readline())
        return answer

    def close(self):
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait(30)
        for path in (self.image, self.control):
            if os.path.exists(path):
                os.unlink(path)
