#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The timer source as an ordinary user has it: the CPU time of programs is in the
# recording.  That they behave the same is tests/e2e/untouched.py.
# usage: sampler.sh DWELL WORKLOADS
set -u
dwell=$1 workloads=$2
paranoid=/proc/sys/kernel/perf_event_paranoid
n=0 failed=0 old=

# shellcheck disable=SC2317 # called by trap
finish() {
	[ -z "$old" ] || echo "$old" >"$paranoid"
	rm -rf "$dir"
}

if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
	echo "1..0 # SKIP needs root, to become an ordinary user"
	exit 0
fi
dir=$(mktemp -d)
trap finish EXIT
# As on stock Debian: nothing for ordinary users.  Other systems' values stay higher.
if [ "$(cat "$paranoid")" -lt 3 ]; then
	old=$(cat "$paranoid")
	echo 3 >"$paranoid"
fi
cp "$dwell" "$workloads"/{cpu,mt,rec} "$dir"
chmod -R a+rX "$dir"
chmod 777 "$dir"
cd "$dir" || exit 1

as_user() {
	timeout 120 setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"
}

ok() { # STATUS NAME
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		failed=1
	fi
}

# The share of the program's CPU time that is in samples, in percent.
covered() { # RECORDING
	./dwell report --json "$1" >/dev/null &&
		./dwell report "$1" | sed -n 's/^  cpu time *.*(\([-+0-9.]*\) %).*/\1/p'
}

within() { # NAME LIMIT RECORDING
	local off
	off=$(covered "$3")
	awk -v off="$off" -v limit="$2" \
		'BEGIN { exit !(off != "" && off <= limit && off >= -limit) }'
	ok $? "$1: CPU time within $2 % of rusage (${off:-not reported} %)"
}

as_user ./dwell run -i 1ms -o cpu.dwell -- ./cpu 40 >/dev/null 2>cpu.err
ok $? "an ordinary user records"
./dwell report cpu.dwell >cpu.txt
grep -q 'timers in the program' cpu.txt
ok $? "by timers in the program"
within cpu 1.5 cpu.dwell
as_user ./dwell run -i 1ms -o mt.dwell -- ./mt 6000 >/dev/null 2>&1
within mt 3 mt.dwell
as_user ./dwell run -i 1ms -o rec.dwell -- ./rec 400 >/dev/null 2>&1
./dwell report rec.dwell | grep -q '100.0 %  main '
ok $? "main is 100 % inclusive at depth 1000"

[ -z "$(find /dev/shm -maxdepth 1 -name 'dwell-*' -uid 65534)" ]
ok $? "nothing is left behind"
echo "1..$n"
exit $failed
