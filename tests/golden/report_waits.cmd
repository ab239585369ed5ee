"$(dirname "$0")/program.py" root/bin/waits 488b004883c1014839ca75f4c3 chase:0:13
dwell report --by instruction --sysroot root waits.dwell
dwell report --by instruction --sysroot root --width 160 --event cpu-time waits.dwell
dwell report --by instruction --sysroot root --sort stalled -n 1 --model golden-cove --clock 2 waits.dwell | sed -n '/^Excl/,/stalled/p'
dwell pcs --json -n 1 --sysroot root waits.dwell | sed 's/.*"rows"/"rows"/; s/,"quality.*//; s/\("share":0.[0-9]\{4\}\)[0-9]*/\1/'
dwell report --by instruction --sysroot none waits.dwell | sed -n '/Address/,/^$/p'
dwell report --by instruction --sort stalled --filter 'function == none' --sysroot root waits.dwell | sed -n '4,5p'
dwell report --by function --sort stalled waits.dwell; echo $?
dwell pcs --model i386 --sysroot root waits.dwell; echo $?
