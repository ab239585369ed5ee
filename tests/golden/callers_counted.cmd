dwell callers leaf counted.dwell
dwell report --sort inclusive:instructions entered.dwell
dwell report --filter 'function == leaf' counted.dwell
dwell report --model none counted.dwell
dwell report --clock fast counted.dwell
dwell report --event ideal-time counted.dwell
dwell report --compare ideal counted.dwell
dwell report --event instructions --model zen4 counted.dwell
dwell report --clock 3 example.dwell
