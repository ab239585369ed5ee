export TZ=UTC
dwell db merge -o db example.dwell server.dwell
dwell db merge -o db example_new.dwell
dwell db ls db | sed 's/[0-9.]* K\{0,1\}B /SIZE /'
COLUMNS=160 dwell db ls --host box db | sed 's/[0-9.]* K\{0,1\}B /SIZE /'
dwell report --db db --epoch 1 --host box
dwell report --db db --host box --by process --width 60
dwell cat --section processes,events --db db --host box
dwell diff db/unknown/0001 db/unknown/0002
dwell db verify db | sed 's/, [0-9.]* KB/, SIZE/'
echo junk > db/unknown/0001/notes.txt
truncate -s 100 db/unknown/0002/*.dwell
dwell db verify db | sed 's/, [0-9.]* K\{0,1\}B/, SIZE/'
dwell report --db db --limit 2
dwell db ls db/unknown/0002 | sed 's/[0-9.]* K\{0,1\}B /SIZE /'
dwell db
dwell db lss db
dwell db ls
dwell db ls /dev
dwell db ls nothing
dwell db export db
dwell db merge -o one single.dwell
dwell db export -o one.dwell one
dwell db merge -o x --keep pids example.dwell
dwell db compact --max-age tomorrow db
dwell report --db db --since soon
dwell report --db db --since 10:00 --until 9:00
dwell report --db db --epoch 9
dwell report --db db example.dwell
dwell report --epoch 1 example.dwell
