#!/usr/bin/env bash
# How much of what OpenVINO's own benchmark_app gets out of the same IR reaches a client, measured in turn:
#   W1 end to end (proxy, socket, Task; 16 in flight, a stream a core) against static batches of W1's mean length;
#   equal pairs through the Task on one thread against static batches of their length;
# and where the time of those batches goes, by kind of layer. benchmark_app's best batch size of a first round is its
# opponent in the others. Build first (make bench-forms), on a machine that does nothing else.
#   bench/benchmark-app.sh [ROUNDS]
set -euo pipefail
ROUNDS=${1:-3} SECONDS_EACH=${SECONDS_EACH:-8} BATCHES=${BATCHES:-1 2 4 8 16} MODEL=${MODEL:-native/models/minilm-l6-rerank}
W1_TOKENS=136 # mean of a pair: bench/README.md, "Workloads"
source "$(dirname "$0")/in-turn.sh"

# app STREAMS TOKENS BATCH FLAGS...: pairs a second of benchmark_app; it counts calls, each of BATCH pairs.
app() {
  .deps/python/bin/python3 - "$dir" "$3" "$2" <<'E2'
import sys
import numpy as np
folder, shape = sys.argv[1], (int(sys.argv[2]), int(sys.argv[3]))
ids = np.random.default_rng(1).integers(1000, 30000, shape, dtype=np.int64)
for name, values in {"input_ids": ids, "attention_mask": np.ones(shape, np.int64), "token_type_ids": np.zeros(shape, np.int64)}.items():
    np.save(f"{folder}/{name}.npy", values)
E2
  local shape="[$3,$2]" inputs=input_ids:$dir/input_ids.npy,attention_mask:$dir/attention_mask.npy,token_type_ids:$dir/token_type_ids.npy
  .deps/python/bin/benchmark_app -m "$MODEL/model.xml" -d CPU -hint none -api async -nstreams "$1" -nthreads "$1" -infer_precision f32 \
    -t "$SECONDS_EACH" -data_shape "input_ids$shape,attention_mask$shape,token_type_ids$shape" -i "$inputs" "${@:4}" >"$dir/app.log" 2>&1 ||
    { cat "$dir/app.log" >&2; return 1; }
  sed -nE 's/.*Count: +([0-9]+) iterations.*/\1/p; s/.*Duration: +([0-9.]+) ms.*/\1/p' "$dir/app.log" |
    awk -v pairs="$3" 'NR == 1 { calls = $1 } NR == 2 { printf "%.1f\n", calls * pairs / $1 * 1000 }'
}

# best STREAMS TOKENS: prints every batch size to stderr, the best to stdout.
best() {
  local batch
  for batch in $BATCHES; do echo "$(app "$1" "$2" "$batch") $batch"; done | sort -rn >"$dir/batches"
  echo "benchmark_app, $1 streams, $2 tokens: pairs/s and batch: $(paste -sd ';' "$dir/batches")" >&2
  sed -n '1s/.* //p' "$dir/batches"
}

w1() {
  "$BENCH" run --url "http://${addresses[ours]}" --model minilm-l6-rerank --workload W1 --concurrency 16 --warm-up 2s --window "$1s" \
    --progress never --json "$dir/w1.json" >/dev/null
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["results"][0]["passages_per_s"])' "$dir/w1.json"
}

# equal: tokens of a pair and pairs a second.
equal() { build/native/ranking-engine-bench "$MODEL" 1 8 256 equal | sed -nE 's/.* ([0-9.]+) tokens.pair +Task +([0-9.]+) pairs.*/\1 \2/p'; }

# in_turn NAME STREAMS TOKENS OURS...: OURS prints pairs a second as its last word.
in_turn() {
  local batch ours=() app=()
  batch=$(best "$2" "$3")
  for _ in $(seq "$ROUNDS"); do
    ours+=("$("${@:4}" | sed 's/.* //')")
    app+=("$(app "$2" "$3" "$batch")")
  done
  python3 -c 'import statistics as s, sys
name, batch, ours, app = sys.argv[1], sys.argv[2], *([float(x) for x in values.split()] for values in sys.argv[3:])
print(f"{name}: ours {s.median(ours):.1f} pairs/s {ours}, benchmark_app {s.median(app):.1f} (batch {batch}) {app}, ratio {s.median(ours) / s.median(app):.3f}")' \
    "$1" "$batch" "${ours[*]}" "${app[*]}"
  app "$2" "$3" "$batch" -report_type average_counters -report_folder "$dir" >/dev/null
  python3 - "$dir/benchmark_average_counters_report.csv" <<'E2'
import collections, csv, sys
times = collections.Counter()
for row in csv.DictReader(open(sys.argv[1]), delimiter=";"):
    if row.get("layerName") not in (None, "", "Total") and float(row["realTime (ms)"] or 0) > 0:
        times[row["layerType"], row["execType"]] += float(row["realTime (ms)"])
for (layer, kernel), time in times.most_common(12):
    print(f"  {time / times.total() * 100:5.1f} %  {layer} ({kernel})")
E2
}

read -r tokens _ < <(equal)
in_turn "equal pairs of $tokens tokens, one thread" 1 "${tokens%.*}" equal
streams=$(nproc)
start "$TASK" --task openvino --model "$MODEL" --socket "$dir/task.sock"
proxy ours A=1 "$dir/task.sock"
in_turn "W1 end to end, $streams streams" "$streams" "$W1_TOKENS" w1 $((2 * SECONDS_EACH))
