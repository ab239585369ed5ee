#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Python scripts name nothing that is not there, and nothing in vain.
# usage: python.sh SOURCE-ROOT
cd "$1" || exit 1
command -v pyflakes3 >/dev/null || { echo "pyflakes3 is not installed"; exit 77; }
find . -name 'build*' -prune -o -path ./.git -prune -o -name node_modules -prune -o -type f -print |
	while read -r file; do
		case $file,$(head -c 40 "$file" | head -n 1 | tr -d '\0') in
		*.py,* | *,'#!'*python3) echo "$file" ;;
		esac
	done 2>/dev/null | xargs pyflakes3
