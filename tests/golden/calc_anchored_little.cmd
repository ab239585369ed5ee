"$(dirname "$0")/program.py" root/bin/waits 488b004883c1014839ca75f4c3 chase:0:13
dwell calc chase --sysroot root anchored_little.dwell
dwell stalls chase --sysroot root anchored_little.dwell | head -n 12
dwell report --by instruction --sysroot root anchored_little.dwell | tail -n 12
