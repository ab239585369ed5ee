"$(dirname "$0")/program.py" root/bin/waits 488b004883c1014839ca75f4c3 chase:0:13
dwell calc chase --sysroot root unsure.dwell | grep instructions,
dwell stalls chase --sysroot root unsure.dwell
dwell stalls waits --sysroot root unsure.dwell | sed -n '/^waits/,/^Of all/p'
dwell stalls --sysroot root unsure.dwell | sed -n '/^All/,/^Of all/p'
