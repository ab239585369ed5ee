"$(dirname "$0")/program.py" root/bin/waits 488b004883c1014839ca75f4c3 chase:0:13
dwell calc chase --sysroot root anchored.dwell
dwell calc chase --json --sysroot root anchored.dwell | grep -o '"windows[^[]*'
dwell cat --section anchors anchored.dwell | head -n 6
