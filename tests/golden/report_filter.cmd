for f in "thread == worker" "time < 100ms" "function == parse" "leaf != hash && mode == user" \
	"interval == serving" "image == libc.so.6" "cpu == 1" "function =~ \"^std::map\"" "event == blocked-time"; do
	echo "$f"
	dwell report --filter "$f" server.dwell | sed -n "/──/,/^$/p"
done
