# The epochs of a database, compared.
export TZ=UTC
dwell db merge -o epochs example.dwell
dwell db merge -o epochs example_new.dwell
dwell db merge -o epochs example.dwell
dwell stats --db epochs
dwell diff --db epochs --epoch last | tail -n +2
dwell diff --db epochs --by function --limit 3 --host unknown
dwell diff --db epochs --epoch 1 --host box
