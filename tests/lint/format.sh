#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sources are formatted.  usage: format.sh SOURCE-ROOT  (FIX=1 formats them)
set -o pipefail
cd "$1" || exit 1
command -v clang-format >/dev/null || { echo "clang-format is not installed"; exit 77; }
if [ -n "$FIX" ]; then
	how=(-i)
else
	how=(--dry-run -Werror)
fi
find src fuzz tests bench -name '*.[ch]' -print0 2>/dev/null |
	xargs -0 -P 2 -n 40 clang-format "${how[@]}" 2>&1 | grep -v '^ ' | cut -c1-150
exit "${PIPESTATUS[1]}"
