# Rows by where and as what it ran, and filters on it.
for by in cgroup host epoch cpu process; do
	dwell report --by $by fleet.dwell | sed -n "/──/,/^$/p"
done
for filter in 'cgroup == nginx.service' 'host == m1' 'epoch == 2' 'cgroup =~ build && host != m1'; do
	dwell report --event cycles --by function --filter "$filter" fleet.dwell | sed -n "/──/,/^$/p"
done
dwell diff --by host --filter 'event == cycles' fleet.dwell fleet.dwell | sed -n "/──/,/^$/p"
dwell report --cum fleet.dwell | sed -n "/Function/,/^$/p"
dwell report --cum --width 120 --sort exclusive:cache-misses fleet.dwell | sed -n "/Function/,/^$/p"
dwell report --cum --json --by command fleet.dwell | tr '{' '\n' | grep -A1 '"cumulative":$' | grep -o 'cycles.*[0-9]}'
