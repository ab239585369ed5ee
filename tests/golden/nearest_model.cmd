"$(dirname "$0")/program.py" root/bin/waits 488b004883c1014839ca75f4c3 chase:0:13
dwell calc chase --sysroot root nearest.dwell | grep -A1 'Best case'
dwell calc chase --model golden-cove --sysroot root nearest.dwell | grep -A1 'Best case'
dwell calc chase --json --sysroot root nearest.dwell | grep -o '"model.*nearest_model":[a-z]*'
dwell stalls chase --sysroot root nearest.dwell | grep -A1 'Best case'
dwell stalls chase --json --sysroot root nearest.dwell | grep -o '"model.*nearest_model":[a-z]*' | sed 's/.*\("model"\)/\1/'
dwell cfg chase --sysroot root nearest.dwell | tr '\n' ' ' | grep -o 'at best: [^<"\\]*model'
dwell report --event ideal-time --sysroot root nearest.dwell | grep -A1 computed
dwell stalls chase --sysroot root waits.dwell | grep 'Best case'
