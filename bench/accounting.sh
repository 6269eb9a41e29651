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
off_pid=$!
start "$PROXY" --listen "$on" --task-socket "$dir/task.sock" --log-sample 0 --log-level warn --records "$dir/records.jsonl"
on_pid=$!
for address in "$off" "$on"; do
  for _ in $(seq 100); do curl -sf -o /dev/null "http://$address/v1/health/ready" && break || sleep 0.1; done
done
# As a Prometheus does: on one connection. A program started for each scrape would cost more than the scrape.
start python3 - "$on" <<'E1'
import http.client, sys, time
connection = http.client.HTTPConnection(sys.argv[1])
while True:
    connection.request("GET", "/metrics")
    connection.getresponse().read()
    time.sleep(1)
E1

requests() { curl -s "http://$1/metrics" | sed -n 's|^ranking_proxy_requests_total{route="/v1/ranking",dialect="nim",outcome="ok"} ||p'; }
cpu_ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }

# measure LOOP SIDE ROUND FLAGS...
measure() {
  local side=$2 pid=${2}_pid before ticks
  before=$(requests "${!side}") ticks=$(cpu_ticks "${!pid}")
  "$BENCH" run --url "http://${!side}" --name "$side" --workload "$WORKLOAD" --window "$WINDOW" --progress never --json "$dir/$1-$2-$3.json" "${@:4}" >/dev/null
  echo "$(($(cpu_ticks "${!pid}") - ticks)) $(($(requests "${!side}") - before))" >"$dir/$1-$2-$3.cpu"
}
for round in $(seq "$ROUNDS"); do
  for side in off on; do
    measure open "$side" "$round" --arrivals constant --rate "$RATE" --concurrency 128
    measure closed "$side" "$round" --concurrency 16
    : >"$dir/records.jsonl" # the disk is not what is measured
  done
done
curl -s -o /dev/null -w 'scrape: %{time_total} s\n' "http://$on/metrics"
curl -s "http://$on/metrics" | grep -E '^ranking_proxy_records_(written|dropped|failed)_total'
python3 - "$dir" <<'E2'
import glob, json, os, statistics, sys
def median(name, of):
    results = [json.load(open(path))["results"][0] for path in glob.glob(f"{sys.argv[1]}/{name}-[0-9]*.json")]
    return statistics.median(of(r) for r in results)
def cpu_us(name):
    counts = [open(path).read().split() for path in glob.glob(f"{sys.argv[1]}/{name}-[0-9]*.cpu")]
    return statistics.median(1e6 / os.sysconf("SC_CLK_TCK") * int(ticks) / int(n) for ticks, n in counts)
print(f"{'':28}{'off':>10}{'on':>10}{'on/off':>9}")
for label, loop, of in (
    ("open loop p50, ms", "open", lambda r: r["latency_ms"]["p50"]), ("open loop p99, ms", "open", lambda r: r["latency_ms"]["p99"]),
    ("open loop, requests/s", "open", lambda r: r["requests_per_s"]), ("closed loop, requests/s", "closed", lambda r: r["requests_per_s"]),
):
    off, on = median(f"{loop}-off", of), median(f"{loop}-on", of)
    print(f"{label:28}{off:10.3f}{on:10.3f}{on / off:9.3f}")
for loop in ("open", "closed"):
    off, on = cpu_us(f"{loop}-off"), cpu_us(f"{loop}-on")
    print(f"{loop + ' loop, proxy us/request':28}{off:10.1f}{on:10.1f}{on / off:9.3f}")
E2
