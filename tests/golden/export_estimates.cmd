"$(dirname "$0")/program.py" root/bin/waits 488b004883c1014839ca75f4c3 chase:0:13
dwell export pixie --sysroot root sampled.dwell
cd sampled.pixie; for f in *.Addrs; do echo "$f"; od -An -v -tx1 -w4 "$f"; done
head -c 8 waits.Counts | od -An -v -tx1 -w4
sed '/^#/!s/ [0-9][0-9]*/ n/g' waits.Ranges
awk '!/^#/ && !($2 <= $3 && $3 <= $4)' waits.Ranges; cd ..
dwell export pixie --sysroot root sampled.dwell waits.dwell; echo $?
dwell export pixie --sysroot root --filter 'time < 1s' sampled.dwell; echo $?
dwell export lcov --sysroot root sampled.dwell; echo $?
