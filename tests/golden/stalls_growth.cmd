"$(dirname "$0")/program.py" root/bin/waits 488b004883c1014839ca75f4c3 chase:0:13
dwell stalls --against alone_slow.dwell --sysroot root --width 80 alone.dwell | sed -n '/^  How often is not known/,/^$/p;/^Of the first/,/^  complete/p'
dwell stalls --against alone.dwell --sysroot root --width 80 alone_slow.dwell | sed -n '/^Of the first/,/^  complete/p'
dwell stalls --against alone.dwell --sysroot root --width 80 alone.dwell | sed -n '/^Of the first/,/^  complete/p'
dwell stalls --json --against alone_slow.dwell --sysroot root alone.dwell | grep -o '"growth".*"port'
"$(dirname "$0")/program.py" twins/bin/waits 488b004883c1014839ca75f4c3488b004883c1014839ca75f4c3 chase:0:13 chase:13:13
dwell stalls --against twins.dwell --sysroot twins --width 80 twins.dwell | sed -n '/^Of the first/,/^  complete/p'
dwell stalls --json --against alone_slow.dwell --sysroot root alone.dwell | grep -o '"places":.*"causes":[^]]*'
