#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The timer source as an ordinary user has it: programs behave the same with and
# without, and their CPU time is in the recording.
# usage: sampler.sh DWELL WORKLOADS BEHAVIOUR SOURCES
set -u
dwell=$1 workloads=$2 behaviour=$3 sources=$4
paranoid=/proc/sys/kernel/perf_event_paranoid
n=0 failed=0 old=

# shellcheck disable=SC2317 # called by trap
finish() {
	[ -z "$old" ] || echo "$old" >"$paranoid"
	rm -rf "$dir"
}

if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
	echo "1..0 # SKIP needs root, to become an ordinary user"
	exit 77
fi
dir=$(mktemp -d)
trap finish EXIT
# As on stock Debian: nothing for ordinary users.  Other systems' values stay higher.
if [ "$(cat "$paranoid")" -lt 3 ]; then
	old=$(cat "$paranoid")
	echo 3 >"$paranoid"
fi
cp "$dwell" "$behaviour" "$workloads"/{cpu,mt,rec} "$sources"/{forky.sh,py.py,n.js} "$dir"
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

skip() {
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

# Same output, same errors, same exit code.
same() { # NAME COMMAND...
	local name=$1
	shift
	as_user "$@" >plain.out 2>plain.err
	local plain=$?
	as_user ./dwell run -i 1ms -o same.dwell -- "$@" >with.out 2>with.err
	local with=$?
	grep -v '^dwell: ' with.err >with.err2
	# What this shell says of a killed program is not the program's.
	grep -v "^$0: line" plain.err >plain.err2
	[ "$plain" = "$with" ] && cmp -s plain.out with.out && cmp -s plain.err2 with.err2
	ok $? "$name is the same with and without"
	if [ "$plain" != "$with" ]; then echo "# exit codes: $plain $with"; fi
	diff plain.out with.out | head -5 | sed 's/^/# /'
	diff plain.err2 with.err2 | head -5 | sed 's/^/# /'
	rm -f same.dwell
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

same behaviour ./behaviour
same "a shell script of many processes" bash ./forky.sh 40
same "a pipeline" sh -c 'seq 1 20000 | sort -rn | md5sum; exit 4'
same "a program that is not there" sh -c './nothing; echo $?'
same "a killed program" sh -c 'kill -SEGV $$'
same "a set-user-id program" sh -c 'su --help; echo $?'
same "file size limit" sh -c 'ulimit -f 0; exec ./cpu 1'
same "descriptor limit" sh -c 'ulimit -n 4; exec ./cpu 1'
same "other preloaded libraries" env LD_PRELOAD=libm.so.6 ./cpu 1
same_interpreted() { # INTERPRETER SCRIPT
	if command -v "$1" >/dev/null && as_user "$@" >/dev/null 2>&1; then
		same "$1" "$@"
	else
		skip "$1" "cannot be run here"
	fi
}

same_interpreted python3 ./py.py
same_interpreted node ./n.js
[ -z "$(find /dev/shm -maxdepth 1 -name 'dwell-*' -uid 65534)" ]
ok $? "nothing is left behind"
echo "1..$n"
exit $failed
