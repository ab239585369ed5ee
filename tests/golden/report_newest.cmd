mkdir -p newest && cd newest && cp ../example.dwell . && dwell report -n 1 | head -2
