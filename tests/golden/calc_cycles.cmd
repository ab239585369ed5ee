"$(dirname "$0")/program.py" root/bin/waits 488b004883c1014839ca75f4c3 chase:0:13
dwell calc chase --sysroot root cycles.dwell
dwell calc chase --json --sysroot root cycles.dwell | grep -o '"\(cycles\|clock_ghz\)[^,]*' | head -3
dwell stalls chase --sysroot root cycles.dwell | head -12
dwell calc chase --sysroot root retired.dwell cycles.dwell | sed -n '/samples of/p'
