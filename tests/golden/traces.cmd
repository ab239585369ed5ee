# What no report shows yet is there, and an archive keeps it.
dwell cat traced.dwell
dwell archive traced.dwell -o kept.dwell >/dev/null; echo $?
dwell cat --section trace-types,traces,intervals traced.dwell >before
dwell cat --section trace-types,traces,intervals kept.dwell >after
grep -c . after; diff before after
