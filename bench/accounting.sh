#!/usr/bin/env bash
# What accounting costs: two proxies before one null Task, one without records, one with records and a scrape of its metrics every second,
# measured in turn (A B A B ...) at 2,000 requests/s open loop, then for capacity in a closed loop. Prints medians and their ratios.
# Build first (make build), on a machine that does nothing else.
#   bench/accounting.sh [ROUNDS]
set -euo pipefail
ROUNDS=${1:-5} RATE=${RATE:-2000} WINDOW=${WINDOW:-8s} WORKLOAD=${WORKLOAD:-W3}
source "$(dirname "$0")/in-turn.sh"

start "$TASK" --task null --null-model minilm-l6-rerank --socket "$dir/task.sock" --log-level error
proxy off "" "$dir/task.sock"
proxy on "" "$dir/task.sock" --records "$dir/records.jsonl"
on=${addresses[on]}
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

# side LOOP NAME ROUND FLAGS...
side() {
  local address=${addresses[$2]} pid=${pids[$2]} before ticks
  before=$(requests "$address") ticks=$(cpu_ticks "$pid")
  "$BENCH" run --url "http://$address" --name "$2" --workload "$WORKLOAD" --window "$WINDOW" --progress never --json "$dir/$1-$2-$3.json" "${@:4}" >/dev/null
  echo "$(($(cpu_ticks "$pid") - ticks)) $(($(requests "$address") - before))" >"$dir/$1-$2-$3.cpu"
}
for round in $(seq "$ROUNDS"); do
  for name in "${names[@]}"; do
    side open "$name" "$round" --arrivals constant --rate "$RATE" --concurrency 128
    side closed "$name" "$round" --concurrency 16
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
