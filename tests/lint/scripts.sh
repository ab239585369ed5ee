#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Shell scripts are clean.  usage: scripts.sh SOURCE-ROOT
cd "$1" || exit 1
command -v shellcheck >/dev/null || { echo "shellcheck is not installed"; exit 77; }
find . -name 'build*' -prune -o -path ./.git -prune -o -name node_modules -prune -o -type f -print |
	while read -r file; do
		case $(head -c 40 "$file" | head -n 1 | tr -d '\0') in
		'#!'*bash | '#!'*/sh) echo "$file" ;;
		esac
	done 2>/dev/null | xargs shellcheck -x
