#!/bin/sh
# Runs the whole suite against our own proxy before a Task: the Task's socket first, then each dialect over HTTP, drain included.
#   check-ours.sh BIN "--without FEATURES" "DIALECTS" TASK [ARGUMENT ...]
# BIN holds ranking-conformance and ranking-proxy; TASK is started with --socket PATH added. Results go to $RESULTS, if set, as JUnit XML.
set -eu
bin=$1 without=$2 dialects=$3
shift 3

directory=$(mktemp -d)
"$@" --socket "$directory/task.sock" 2> "$directory/task.log" &
task=$!
trap 'kill "$task" 2>/dev/null || true; rm -rf "$directory"' EXIT
waited=0
while [ ! -S "$directory/task.sock" ]; do
  kill -0 "$task" 2>/dev/null && [ "$waited" -lt 600 ] || { cat "$directory/task.log" >&2; echo "the Task did not start" >&2; exit 1; }
  waited=$((waited + 1))
  sleep 0.1
done

failed=0
suite() { # name, flags...
  name=$1
  shift
  echo "== $name"
  "$bin/ranking-conformance" "$@" ${RESULTS:+--junit "$RESULTS/$name.xml"} 2> "$directory/progress" || failed=1
}

suite ipc --ipc "$directory/task.sock"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
for dialect in $dialects; do
  # shellcheck disable=SC2086 # without is a flag and its value, or nothing
  suite "$dialect" --url "http://127.0.0.1:$port" --dialect "$dialect" --profile ours $without \
    --start-command "'$bin/ranking-proxy' --listen 127.0.0.1:$port --task-socket '$directory/task.sock' 2>'$directory/proxy.log'"
done
exit "$failed"
