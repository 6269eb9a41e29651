#!/usr/bin/env bash
# Measures one pod's worth (a proxy, a Task of two cores, the default model) and prints what parameters.json and SIZING.md want. Needs what
# `make native go` builds and a quiet machine; takes half a minute.
set -euo pipefail
cd "$(dirname "$0")/../.."
WORK=$(mktemp -d)
PORT=${PORT:-18765}
URL=http://127.0.0.1:$PORT
COMMAND='ranking-bench run --workload W1 --concurrency 4 --warm-up 3s --window 15s'
trap 'kill $(jobs -p) 2>/dev/null || true; wait || true; rm -rf "$WORK"' EXIT
start=$(date +%s.%N)
build/native/ranking-task --socket "$WORK/task.sock" --task openvino --model native/models/minilm-l6-rerank 2>"$WORK/task.log" &
task=$!
build/bin/ranking-proxy --listen "127.0.0.1:$PORT" --task-socket "$WORK/task.sock" 2>"$WORK/proxy.log" &
proxy=$!
until curl -sf "$URL/v1/health/ready" >/dev/null; do
  kill -0 $task && kill -0 $proxy || { cat "$WORK"/*.log >&2; exit 1; }
  sleep 0.05
done
ready=$(date +%s.%N)
# shellcheck disable=SC2086
build/bin/${COMMAND} --url "$URL" --pid $task --pid $proxy --progress never --json "$WORK/result.json" >&2
memory=$(awk '/^VmHWM/ { kb += $2 } END { print int(kb / 1024) }' /proc/$task/status /proc/$proxy/status)
python3 - "$WORK/result.json" "$start" "$ready" "$memory" "$COMMAND" "$(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg)" <<'EOF'
import datetime, json, sys
path, start, ready, memory, command, machine = sys.argv[1:]
with open(path) as file:
    result = json.load(file)["results"][0]
measured = {"Date": datetime.date.today().isoformat(), "Command": command, "Machine": machine}
print('  "Measured":', json.dumps(measured), end=",\n")
print(f'  "Pod": {{"TokensPerSecond": {result["tokens_per_s"]:.0f}, ...}}   OverheadSeconds and StartSeconds stay: see SIZING.md')
print(f'passages/s {result["passages_per_s"]:.1f}; loading and warming up {float(ready) - float(start):.1f} s; memory of both at most {memory} MB')
EOF
