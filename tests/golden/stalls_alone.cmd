"$(dirname "$0")/program.py" root/bin/waits 488b004883c1014839ca75f4c3 chase:0:13
dwell stalls chase --sysroot root alone.dwell
dwell stalls --by procedure --sysroot root alone.dwell | sed -n '/^ *Time/,/chase/p'
dwell stalls waits --by instruction --sysroot root alone.dwell | sed -n '/^ *Stalled/,/^$/p'
dwell stalls --against alone.dwell --sysroot root --width 80 alone.dwell | sed -n '/^Of all/,/^total/p'
dwell stalls --json --sysroot root alone.dwell | grep -o '"dynamic[^[]*'
