dwell blocks chosen.dwell
dwell blocks --filter 'pid == 10' chosen.dwell
dwell blocks --filter 'process == other && function != leaf' chosen.dwell
dwell blocks --filter 'leaf == leaf || function == only' --json chosen.dwell | grep -o '"filter":"[^"]*"\|"times":[0-9]*'
dwell blocks --event instructions --filter 'pid == 11' mixed.dwell
dwell blocks --filter 'cpu == 3' chosen.dwell
dwell blocks --event ideal-time chosen.dwell
dwell blocks --filter 'proces == other' chosen.dwell
