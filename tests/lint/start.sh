#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# quickstart and check start in a terminal as in a pipe.  usage: start.sh SOURCE-ROOT
cd "$1" || exit 1
unset NO_COLOR
for script in ./quickstart ./check; do
	piped=$($script --help </dev/null)
	typed=$(script -qec "$script --help" /dev/null </dev/null | tr -d '\r')
	[[ $piped == *usage:* ]] || { echo "$script --help in a pipe says: $piped"; exit 1; }
	[ "$piped" = "$typed" ] || { echo "$script --help in a terminal says: $typed"; exit 1; }
done
