"$(dirname "$0")/program.py" root/bin/waits 488b004883c1014839ca75f4c3 chase:0:13
dwell stalls --sysroot root anchored.dwell
dwell stalls chase --json --sysroot root anchored.dwell | grep -o '"instructions[^[]*'
dwell stalls --json --sysroot root anchored.dwell | grep -o '"confidence[^}]*'
dwell stalls --by instruction --sysroot root anchored.dwell
