"$(dirname "$0")/program.py" root/bin/waits 488b004883c1014839ca75f4c3 chase:0:13
dwell calc chase --sysroot root missed.dwell
dwell calc chase --json --sysroot root missed.dwell | grep -o '"miss_[a-z]*":[^]}]*'
dwell stalls chase --sysroot root missed.dwell
