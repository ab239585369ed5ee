for by in image thread process command cpu interval event mode stack; do
	dwell report --by $by server.dwell | sed -n "/──/,/^$/p"
done
