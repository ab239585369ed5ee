#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Many short processes: N times /bin/true and a subshell, N / 4 times a pipeline of
# a subshell, tr and cat.
#
#	usage: forky.sh [N]	(200)
n=${1:-200}
sum=0
for ((i = 0; i < n; i++)); do
	/bin/true
	x=$(printf %s "$i")
	sum=$((sum + x))
done
for ((i = 0; i < n / 4; i++)); do
	echo "a b c" | /usr/bin/tr '[:lower:]' '[:upper:]' | /bin/cat >/dev/null
done
echo $sum
