dwell stalls example.dwell; echo $?
dwell stalls main example.dwell; echo $?
dwell stalls counted.dwell; echo $?
dwell stalls --by line example.dwell; echo $?
dwell stalls --by procedure --against example.dwell example.dwell; echo $?
dwell stalls all example.dwell --against missing.dwell; echo $?
