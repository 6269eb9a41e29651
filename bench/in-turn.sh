# Sourced by accounting.sh, benchmark-app.sh, two-tasks.sh and go-runtime.sh: starts programs and measures proxies in turn (A B A B ...).
# measure wants ROUNDS, WINDOW and CELLS.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
TASK=${RANKING_TASK_PROGRAM:-build/native/ranking-task}
PROXY=${RANKING_PROXY_PROGRAM:-build/bin/ranking-proxy}
BENCH=${RANKING_BENCH_PROGRAM:-build/bin/ranking-bench}
dir=$(mktemp -d)
started=() names=()
declare -A addresses pids
stop() {
  kill "${started[@]}" 2>/dev/null || true
  wait
  rm -rf "$dir"
}
trap stop EXIT

start() { "$@" 2>>"$dir/log" & started+=($!); }
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# proxy NAME VARIABLES SOCKETS FLAGS...
proxy() {
  addresses[$1]=127.0.0.1:$(free_port)
  names+=("$1")
  start env $2 "$PROXY" --listen "${addresses[$1]}" --task-socket "$3" --log-sample 0 --log-level warn --served-model-name minilm-l6-rerank "${@:4}"
  pids[$1]=$!
  for _ in $(seq 300); do curl -sf -o /dev/null "http://${addresses[$1]}/v1/health/ready" && return || sleep 0.1; done
}

# measure runs every cell on every proxy, and prints medians.
measure() {
  for round in $(seq "$ROUNDS"); do
    for cell in $CELLS; do
      for name in "${names[@]}"; do
        "$BENCH" run --url "http://${addresses[$name]}" --name "$name" --model minilm-l6-rerank --workload "${cell%:*}" --concurrency "${cell#*:}" \
          --warm-up "${WARM_UP:-1s}" --window "$WINDOW" --progress never --json "$dir/$cell-$name-$round.json" >/dev/null
        awk '/^VmRSS/ { print $2 * 1024 / 1e6 }' "/proc/${pids[$name]}/status" >"$dir/$cell-$name-$round.rss"
      done
    done
  done
  python3 - "$dir" "$CELLS" "${names[@]}" <<'E2'
import glob, json, statistics, sys
print(f"{'cell':8}{'proxy':16}{'requests/s':>11}{'passages/s':>11}{'p50 ms':>9}{'p99 ms':>9}{'proxy MB':>9}")
for cell in sys.argv[2].split():
    for name in sys.argv[3:]:
        paths = glob.glob(f"{sys.argv[1]}/{cell}-{name}-*.json")
        results = [json.load(open(path))["results"][0] for path in paths]
        of = lambda get: statistics.median(get(r) for r in results)
        rss = max(float(open(path.replace(".json", ".rss")).read()) for path in paths)
        print(f"{cell:8}{name:16}{of(lambda r: r['requests_per_s']):11.1f}{of(lambda r: r['passages_per_s']):11.1f}"
              f"{of(lambda r: r['latency_ms']['p50']):9.3f}{of(lambda r: r['latency_ms']['p99']):9.3f}{rss:9.1f}")
E2
}
