dwell calls chosen.dwell
dwell calls --filter 'pid == 10' chosen.dwell
dwell calls --filter 'function == main && process == other' chosen.dwell
# The instruction that calls, and another one of its block.
dwell calls --filter 'address == 0x100028' chosen.dwell
dwell calls --filter 'address == 0x100020' chosen.dwell
dwell calls --filter 'function == only' --json chosen.dwell | grep -o '"filter":"[^"]*"\|"times":[0-9]*'
dwell calls --filter 'pid == 12' chosen.dwell
dwell calls --event ideal-time chosen.dwell
