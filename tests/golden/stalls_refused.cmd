"$(dirname "$0")/program.py" root/bin/waits 488b004883c1014839ca75f4c3 chase:0:13
dwell calc chase --sysroot root refused.dwell | sed -n '/instructions,/,/^$/p'
dwell stalls --sysroot root refused.dwell | sed -n '/^All/,/^Of all/p'
