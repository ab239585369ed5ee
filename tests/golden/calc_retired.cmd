"$(dirname "$0")/program.py" root/bin/waits 488b004883c1014839ca75f4c3 chase:0:13
dwell calc chase --sysroot root retired.dwell
dwell calc chase --json --sysroot root retired.dwell | grep -o '"retired_samples[^[]*'
dwell stalls chase --sysroot root retired.dwell
