# Callers, contexts and lines of two versions, compared.
dwell diff --callers lookup build_old.dwell build_new.dwell | sed -n '8,15p'
dwell diff --tree build_old.dwell build_new.dwell | sed -n '8,20p'
dwell diff --tree --min 20 --width 110 build_old.dwell build_new.dwell | sed -n '8,20p'
dwell diff --annotate parse build_old.dwell build_new.dwell | sed -n '8,15p'
dwell diff --json --callers lookup build_old.dwell build_new.dwell | grep -o '"rows":.*"matches"'
dwell diff --json --tree --min 50 build_old.dwell build_new.dwell | grep -o '"rows":.*"matches"'
dwell diff --json --annotate parse build_old.dwell build_new.dwell | grep -o '"rows":.*"matches"'
dwell diff --callers nothing build_old.dwell build_new.dwell
