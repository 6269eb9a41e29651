#!/usr/bin/env bash
# One Task with a stream for each core, against one Task pinned to each core, whose large requests are split or not: the default model.
# Build first (make build), on a machine that does nothing else.
#   bench/two-tasks.sh [ROUNDS]
set -euo pipefail
ROUNDS=${1:-3} WINDOW=${WINDOW:-5s} CELLS=${CELLS:-W1:1 W1:16 W3:1} MODEL=${MODEL:-native/models/minilm-l6-rerank}
source "$(dirname "$0")/in-turn.sh"

task() { start "${@:2}" "$TASK" --task openvino --model "$MODEL" --socket "$dir/$1.sock" --log-level error; }
pinned=""
for core in $(seq 0 $(($(nproc) - 1))); do
  task "core$core" taskset -c "$core"
  pinned+=${pinned:+,}$dir/core$core.sock
done
task one env
proxy one-task "" "$dir/one.sock"
proxy pinned-split "" "$pinned"
proxy pinned-whole "" "$pinned" --split-passages 0
sleep 2 # every Task is there, not only the first
measure
