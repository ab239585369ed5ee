# Rows by where and as what it ran, and filters on it.
for by in cgroup host epoch cpu process; do
	dwell report --by $by fleet.dwell | sed -n "/──/,/^$/p"
done
for filter in 'cgroup == nginx.service' 'host == m1' 'epoch == 2' 'cgroup =~ build && host != m1'; do
	dwell report --event cycles --by function --filter "$filter" fleet.dwell | sed -n "/──/,/^$/p"
done
dwell diff --by host --filter 'event == cycles' fleet.dwell fleet.dwell | sed -n "/──/,/^$/p"
