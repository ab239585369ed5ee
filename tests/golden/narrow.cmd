"$(dirname "$0")/program.py" root/bin/a_program_that_waits_for_memory_most_of_the_time 488b004883c1014839ca75f4c39090c3 follow_the_pointers_from_node_to_node_of_the_list:0:13 never_counted:13:3
dwell report --by instruction --event cpu-time --width 80 --sysroot root narrow.dwell
dwell stalls --by procedure --width 80 --sysroot root narrow.dwell
dwell stalls --by instruction --width 80 --sysroot root narrow.dwell
dwell stalls --against narrow.dwell --width 60 --sysroot root narrow.dwell | sed -n '/^Of all/,/^total/p'
dwell calc follow_the_pointers_from_node_to_node_of_the_list --width 60 --sysroot root narrow.dwell
dwell stalls --by instruction --width 140 --sysroot root narrow.dwell | sed -n '/Stalled/,/^$/p'
