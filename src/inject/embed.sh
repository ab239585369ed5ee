#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# C source that holds files as bytes.  usage: embed.sh HEADER NAME FILE [NAME FILE]...
set -e
echo "#include \"$1\""
shift
while [ $# -ge 2 ]; do
	echo "const unsigned char $1[] = {"
	od -An -v -tx1 "$2" | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'
	echo "};"
	echo "const size_t $1_size = $(wc -c <"$2");"
	shift 2
done
