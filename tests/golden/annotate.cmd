dwell annotate C example.dwell
dwell annotate --show source C example.dwell | sed -n '/──/,/^$/p'
dwell annotate --json C example.dwell
dwell annotate nothing example.dwell; echo $?
