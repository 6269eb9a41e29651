#!/bin/sh
# Starts the example Task in a virtual environment of its own and lets the suite test it.
#   check.sh PROGRAM [ARGUMENT ...]      PROGRAM is ranking-conformance; arguments are added to --ipc SOCKET
set -eu
here=$(cd "$(dirname "$0")" && pwd)
environment=${VENV:-$here/../../../build/word-overlap-venv}
[ -x "$environment/bin/python" ] || python3 -m venv "$environment"
"$environment/bin/python" -c 'import msgpack' 2>/dev/null || "$environment/bin/pip" install --quiet --requirement "$here/requirements.txt"

directory=$(mktemp -d)
"$environment/bin/python" "$here/task.py" "$directory/task.sock" &
task=$!
trap 'kill "$task" 2>/dev/null || true; rm -rf "$directory"' EXIT
waited=0
while [ ! -S "$directory/task.sock" ]; do
  waited=$((waited + 1))
  [ "$waited" -lt 100 ] || { echo "the example Task did not start" >&2; exit 1; }
  sleep 0.1
done
"$@" --ipc "$directory/task.sock"
