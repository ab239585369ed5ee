"$(dirname "$0")/program.py" root/bin/waits 488b004883c1014839ca75f4c3 chase:0:13
# The last digits of estimates are the compiler's.
rows() {
	python3 -c 'import json, sys; report = json.load(sys.stdin, parse_float=lambda x: float(f"{float(x):.3g}"))
print(report["report"], json.dumps(report["rows"], indent=1))'
}
dwell cfg chase --json --sysroot root retired.dwell | rows
dwell cfg chase --json --blocks 1 --lines 1 --sysroot root retired.dwell | rows | sed -n '/left_out/,$p'
dwell cfg chase --json --format svg --sysroot root retired.dwell; echo $?
dwell cfg chase --json -o chase.svg --sysroot root retired.dwell; echo $?
