dwell blocks counted.dwell
dwell blocks --json counted.dwell | head -c 400 | grep -o '"name":"blocks".*\|"report": *"[a-z]*"' | head -1
dwell blocks example.dwell
