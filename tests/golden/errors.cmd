cd /; dwell report
cd - >/dev/null
dwell report missing.dwell; echo $?
echo hello > foreign.dwell; dwell report foreign.dwell; echo $?
: > nothing.dwell; dwell report nothing.dwell; echo $?
dwell report --filter "funtion == x" example.dwell; echo $?
dwell report --event cycles example.dwell; echo $?
dwell report --sort size example.dwell; echo $?
dwell report --min 200 example.dwell; echo $?
dwell callers; echo $?
dwell callers pars server.dwell > /dev/null; echo $?
dwell callers mian example.dwell; echo $?
dwell cat --section nonsense example.dwell; echo $?
dwell annotate example.dwell main; echo $?
dwell callers example.dwell; echo $?
dwell example.dwell; echo $?
dwell record -- true; echo $?
dwell stat -- true; echo $?
dwell reprot; echo $?
