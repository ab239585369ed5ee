# JSON has all, unless a limit is given.
for limit in '' '--limit 1' '--limit 0'; do
	for command in 'blocks chosen.dwell' 'calls chosen.dwell'; do
		echo "$command $limit: $(dwell $command --json $limit | grep -o '"times":' | wc -l)"
	done
done
