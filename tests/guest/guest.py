# SPDX-License-Identifier: Apache-2.0
"""A machine that is emulated, with the performance counters that this one may lack: Debian's
kernel for arm64, and a shell on its console that runs what it is told."""
import glob
import os
import select
import shutil
import subprocess
import time

from initramfs import Initramfs

# Where ./check puts it.
KERNEL = os.path.join(os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'),
                      'dwell/guest-aarch64')
BOOT_S = 120
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


def kernels():
    return sorted(glob.glob(os.path.join(KERNEL, 'boot/vmlinuz-*')))


def why_none():
    """What is missing for a guest here, or None."""
    if not shutil.which('qemu-system-aarch64'):
        return 'no qemu-system-aarch64 here'
    if not kernels():
        return f'no kernel in {KERNEL}: ./check aarch64 fetches one'
    return None


class Guest:
    """programs: {name in the guest: path here}."""

    def __init__(self, sysroots, programs, options):
        self.image = os.path.join(os.environ.get('TMPDIR', '/tmp'), f'dwell-guest-{os.getpid()}')
        self.write_image(sysroots, programs)
        self.child = subprocess.Popen(
            ['qemu-system-aarch64', '-machine', 'virt', '-m', '1G', '-display', 'none', '-monitor',
             'none', '-nic', 'none', '-no-reboot', '-serial', 'stdio', '-kernel',
             kernels()[-1], '-initrd', self.image,
             '-append', 'console=ttyAMA0 quiet panic=-1', *options],
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
        with open(os.path.join(KERNEL, 'bin/busybox'), 'rb') as f:
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

    def run(self, command, seconds=120):
        """A line of its shell."""
        assert len(command) < COMMAND_MAX and '\n' not in command
        self.child.stdin.write(command.encode() + b'\n')
        self.child.stdin.flush()
        text, word = self.until_mark(seconds)
        return Finished(int(word), text)

    def close(self):
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait(30)
        if os.path.exists(self.image):
            os.unlink(self.image)
