dwell io io.dwell
dwell io --by connection --limit 5 io.dwell
dwell io --by call --sort bytes --histogram io.dwell
dwell io --by stack --sort calls --limit 2 io.dwell
dwell io --by process --filter 'pid == 11' io.dwell
dwell io --by thread --sort errors --json --limit 1 io.dwell
dwell report io.dwell
dwell report --event io-errors io.dwell
dwell tree --event io-time --filter 'function == "TCP 10.0.0.1:80->10.0.0.3:*"' io.dwell
dwell io --filter 'function == "TCP 10.0.0.1:80->10.0.0.3:5001"' io.dwell
dwell io --json io.dwell | python3 -c '
import json, sys
for call in json.load(sys.stdin)["unfinished_calls"]:
    print({k: v for k, v in call.items() if k != "frames"}, [f["name"] for f in call["frames"]])'
dwell io example.dwell
