#!/usr/bin/env bash
# What accounting costs: two proxies before one null Task, one without records, one with records and a scrape of its metrics every second,
# measured in turn (A B A B ...) at 2,000 requests/s open loop, then for capacity in a closed loop. Prints medians and their ratios.
# Build first (make build), on a machine that does nothing else.
#   bench/accounting.sh [ROUNDS]
set -euo pipefail
cd "$(dirname "$0")/.."
ROUNDS=${1:-5} RATE=${RATE:-2000} WINDOW=${WINDOW:-8s} WORKLOAD=${WORKLOAD:-W3}
TASK=${RANKING_TASK_PROGRAM:-build/native/ranking-task}
PROXY=${RANKING_PROXY_PROGRAM:-build/bin/ranking-proxy}
BENCH=${RANKING_BENCH_PROGRAM:-build/bin/ranking-bench}
dir=$(mktemp -d)
started=()
stop() {
  kill "${started[@]}" 2>/dev/null || true
  wait
  rm -rf "$dir"
}
trap stop EXIT

start() { "$@" 2>>"$dir/log" & started+=($!); }
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

start "$TASK" --task null --null-model minilm-l6-rerank --socket "$dir/task.sock" --log-level error
off=127.0.0.1:$(free_port) on=127.0.0.1:$(free_port)
start "$PROXY" --listen "$off" --task-socket "$dir/task.sock" --log-sample 0 --log-level warn
start "$PROXY" --listen "$on" --task-socket "$dir/task.sock" --log-sample 0 --log-level warn --records "$dir/records.jsonl"
for address in "$off" "$on"; do
  for _ in $(seq 100); do curl -sf -o /dev/null "http://$address/v1/health/ready" && break || sleep 0.1; done
done
scrape() { while sleep 1; do curl -s -o /dev/null "http://$on/metrics"; done; }
scrape & started+=($!)

# measure NAME ADDRESS ROUND FLAGS...
measure() {
  "$BENCH" run --url "http://$2" --name "$1" --workload "$WORKLOAD" --window "$WINDOW" --progress never --json "$dir/$1-$3.json" "${@:4}" >/dev/null
}
for round in $(seq "$ROUNDS"); do
  for side in off on; do
    measure "open-$side" "${!side}" "$round" --arrivals constant --rate "$RATE" --concurrency 128
    measure "closed-$side" "${!side}" "$round" --concurrency 16
    : >"$dir/records.jsonl" # the disk is not what is measured
  done
done
curl -s -o /dev/null -w 'scrape: %{time_total} s\n' "http://$on/metrics"
curl -s "http://$on/metrics" | grep -E '^ranking_proxy_records_(written|dropped|failed)_total'
python3 - "$dir" <<'E2'
import glob, json, statistics, sys
def median(name, of):
    results = [json.load(open(path))["results"][0] for path in glob.glob(f"{sys.argv[1]}/{name}-[0-9]*.json")]
    return statistics.median(of(r) for r in results)
print(f"{'':28}{'off':>10}{'on':>10}{'on/off':>9}")
for label, loop, of in (
    ("open loop p50, ms", "open", lambda r: r["latency_ms"]["p50"]), ("open loop p99, ms", "open", lambda r: r["latency_ms"]["p99"]),
    ("open loop, requests/s", "open", lambda r: r["requests_per_s"]), ("closed loop, requests/s", "closed", lambda r: r["requests_per_s"]),
):
    off, on = median(f"{loop}-off", of), median(f"{loop}-on", of)
    print(f"{label:28}{off:10.3f}{on:10.3f}{on / off:9.3f}")
E2
